import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { jsonText } from "../../../../src/domain/exact-json.ts";
import { UnreadableInput } from "../../../../src/features/import/read/input.ts";
import { readJson } from "../../../../src/features/import/read/json.ts";
import { inPieces, refusal } from "../helpers.ts";

async function records(text: string, wrapped = false, pieceSize = 5): Promise<[number, unknown][]> {
  const all: [number, unknown][] = [];
  for await (const { lines, records } of readJson(inPieces(text, pieceSize), { wrapped })) {
    records.forEach((record, index) => all.push([lines[index]!, record]));
  }
  return all;
}

describe("readJson", () => {
  test("gives the elements of an array, of any kind, with their lines", async () => {
    const text = '[\n{"a":[1,{"b":"],}"}]},\n\n "x\\"y\\\\",\n-1.5e3, true ,null,[],{}\n]\n';
    expect(await records(text)).toEqual([
      [2, { a: [1, { b: "],}" }] }],
      [4, 'x"y\\'],
      [5, -1500],
      [5, true],
      [5, null],
      [5, []],
      [5, {}],
    ]);
  });

  test("gives objects after one another, and several arrays", async () => {
    expect(await records('{"a":1}\n{\n"a":2\n}[{"a":3}] [ ]\n')).toEqual([
      [1, { a: 1 }],
      [2, { a: 2 }],
      [4, { a: 3 }],
    ]);
  });

  test("finds the lists within wrapping objects, and hands over what is included", async () => {
    const included: unknown[] = [];
    const text =
      '{"meta":{"data":[9]},"data":[{"a":1},{"a":2}],"included":[{"b":1}],"x":[{"a":9}]}\n{"animals":{"a":3}}';
    const found: unknown[] = [];
    const options = { wrapped: true, onIncluded: (value: unknown) => void included.push(value) };
    for await (const batch of readJson(inPieces(text, 3), options)) found.push(...batch.records);
    expect([found, included]).toEqual([[{ a: 1 }, { a: 2 }, { a: 3 }], [{ b: 1 }]]);
  });

  test("keeps whole numbers exact, and only those in need of it as bigint", async () => {
    const [[, record]] = (await records(
      '[{"a":9223372036854775807,"b":-9007199254740993,"c":5,"d":"12345678901234567","e":0.1234567890123456,"f":[ 9007199254740993 ]}]',
    )) as [[number, unknown]];
    expect(record).toEqual({
      a: 9223372036854775807n,
      b: -9007199254740993n,
      c: 5,
      d: "12345678901234567",
      e: 0.1234567890123456,
      f: [9007199254740993n],
    });
  });

  test("reads records far larger than a piece, and many of them", async () => {
    const large = "é".repeat(300_000);
    const text = JSON.stringify([{ large }, ...Array.from({ length: 2000 }, (_, a) => ({ a }))]);
    const all = await records(text, false, 4096);
    expect(all.length).toBe(2001);
    expect(all[0]).toEqual([1, { large }]);
    expect(all[2000]).toEqual([1, { a: 1999 }]);
  });

  test.each([
    ['[{"a":1},\n{"a":2,}]', 'line 2: expected a field name in double quotes, found "}"'],
    ['[{"a":1},\n{"a":1\n"b":2}]', "line 3: expected ',' or '}', found \"\\\"b\\\":2}\""],
    ["[1,\n2,\n]", 'line 3: expected a value, found "]"'],
    ["[1\n2]", "line 2: expected ',' or ']' after a record, found \"2\""],
    ["[1,,2]", 'line 1: expected a value, found ","'],
    [
      '[{"a":1}',
      "line 1: the input is cut off in the record that begins here: expected ',' or ']' after a record, found the end",
    ],
    [
      '[{"a":1},\n{"a":"b',
      "line 2: the input is cut off in the record that begins here: expected a closing '\"', found the end",
    ],
    ['[{"a":1},\n{"a":[}]', 'line 2: expected a value, found "}"'],
    ['[{\n"a":[1}]', "line 2: expected ',' or ']', found \"}\""],
    ['[{"a":01}]', "line 1: expected ',' or '}', found \"1}\""],
    ["[{'a':1}]", "line 1: expected a field name in double quotes, found \"'a':1}\""],
    ['[{"a":nul}]', "line 1: expected a value after ':', found \"nul}\""],
    ['[{"a":"x\ty"}]', 'line 1: expected a closing \'"\', found "\\ty\\"}"'],
    ['[{"a":"\\x"}]', 'line 1: expected a valid escape, found "\\\\x\\"}"'],
    ["[1] x", 'line 1: expected a JSON array or object, found "x"'],
    [`[${"[".repeat(600)}`, "line 1: nested deeper than 512 levels"],
  ])("refuses %j", async (text, message) => {
    expect(await refusal(records(text))).toBe(message);
  });

  test.each([
    ['{"data":[1],}', 'line 1: expected a field name in double quotes, found "}"'],
    ['{"data":[1] "a":1}', "line 1: expected ',' or '}', found \"\\\"\""],
    ['{"data" [1]}', "line 1: expected ':' after the field name, found \"[\""],
    ['{"data":[1],"a":{"b":}}', "line 1: expected a value after ':', found \"}\""],
    ['{"data":[1]', "line 1: expected ',' or '}', found the end"],
  ])("refuses the wrapper %j", async (text, message) => {
    expect(await refusal(records(text, true))).toBe(message);
  });

  test("agrees with JSON.parse on every array, however it is cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue()),
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom(0, 2),
        async (values, size, indent) => {
          const text = JSON.stringify(values, null, indent);
          expect((await records(text, false, size)).map(([, value]) => rounded(value))).toEqual(
            JSON.parse(text),
          );
        },
      ),
      { numRuns: 200 },
    );
  });

  test("takes a list with one character changed exactly when JSON.parse does", async () => {
    const edit = fc.tuple(fc.nat(), fc.constantFrom(...Array.from('[]{},:"\\ 0-x\n')));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue(), { minLength: 1 }),
        edit,
        async (values, [at, mark]) => {
          const list = JSON.stringify(values);
          const place = 1 + (at % (list.length - 1));
          const text = `{"data":${list.slice(0, place)}${mark}${list.slice(place + 1)}}`;
          const read = await records(text, true).then(
            (all) => all.map(([, value]) => rounded(value)),
            (error: unknown) => error,
          );
          const expected = parsed(text);
          if (expected === undefined) expect(read).toBeInstanceOf(UnreadableInput);
          else expect(read).toEqual(rounded(expected.data));
        },
      ),
      { numRuns: 500, endOnFailure: true },
    );
  });
});

/**
 * A value with every number as JSON.parse rounds it: what is too large for a double, and -0, are
 * null and 0.
 */
function rounded(value: unknown): unknown {
  return JSON.parse(JSON.stringify(JSON.parse(jsonText(value))));
}

function parsed(text: string): { readonly data: unknown } | undefined {
  try {
    return JSON.parse(text) as { readonly data: unknown };
  } catch {
    return undefined;
  }
}
