import { describe, expect, test } from "bun:test";
import { readCategories } from "../../../src/features/import/plan/categories.ts";
import { bytesOf, fixture, refusal } from "./helpers.ts";

const read = async (text: string) => readCategories(bytesOf(text));

describe("readCategories", () => {
  test("reads names and exact ids from JSON and from CSV", async () => {
    const expected = [
      { name: "Dog", id: 1n },
      { name: "Guinea Pig, small", id: 9223372036854775807n },
    ];
    expect(await read('{"Dog": 1, "Guinea Pig, small": 9223372036854775807}')).toEqual(expected);
    expect(await read('id;Name\r\n1;Dog\r\n9223372036854775807;"Guinea Pig, small"\r\n')).toEqual(
      expected,
    );
  });

  test("reads every form of a whole number in JSON", async () => {
    expect(await read('{"Dog": 1e18, "Cat": 9007199254740993.0, "Eel": 1.0}')).toEqual([
      { name: "Dog", id: 10n ** 18n },
      { name: "Cat", id: 9007199254740993n },
      { name: "Eel", id: 1n },
    ]);
  });

  test("the same name twice is fine for one id, refused for two", async () => {
    expect(await read("name,id\nDog,1\ndog,1\n")).toHaveLength(2);
    expect(await refusal(read("name,id\nDog,1\nDOG ,2\n"))).toBe('category "DOG" is given two ids');
  });

  test.each([
    ["", "the input is empty"],
    ["[1]", 'line 1: expected an object of category names and ids, such as {"Dog": 1, "Cat": 2}'],
    ['{"Dog":\n1,}', "not JSON: Property name must be a string literal"],
    ['{"Dog": 1.5}', 'category "Dog": expected a whole number of 64 bits as id, found 1.5'],
    [
      '{"Dog": 9223372036854775808}',
      'category "Dog": expected a whole number of 64 bits as id, found 9223372036854775808',
    ],
    [
      '{"Dog": 0.99999999999999999}',
      'category "Dog": expected a whole number of 64 bits as id, found 0.99999999999999999',
    ],
    ['{"Dog": [7]}', 'category "Dog": expected a whole number of 64 bits as id, found a list'],
    ['{"Dog": "8"}', 'category "Dog": expected a whole number of 64 bits as id, found "8"'],

    ['{" ": 1}', 'category " ": expected a name'],
    ['{"a\\u0000": 1}', 'category "a\\u0000": expected a name'],
    ["name,number\nDog,1\n", "line 1: expected a header line with the columns name and id"],
    ["Dog,1\n", "line 1: expected a header line with the columns name and id"],
    [
      "name,id\nDog\n",
      'line 2: category "Dog": expected a whole number of 64 bits as id, found nothing',
    ],
    [
      "name,id\nDog,x\n",
      'line 2: category "Dog": expected a whole number of 64 bits as id, found "x"',
    ],
  ])("refuses %j", async (text, message) => {
    expect(await refusal(read(text))).toBe(message);
  });
});

test("a workbook of categories is refused", async () => {
  const bytes = await fixture("streamed.xlsx");
  expect(await refusal((async () => readCategories(bytes))())).toBe(
    "the input is an Excel workbook: save it as CSV",
  );
});
