import { describe, expect, test } from "bun:test";
import { message, messageText, messageTexts } from "../../../src/features/import/messages.ts";

describe("a message", () => {
  test("is a code with the values that its text shows", () => {
    const said = message("nameLong", "1000", "1001");
    expect(said).toEqual({ code: "nameLong", values: ["1000", "1001"] });
    expect(messageText(said)).toBe("expected at most 1000 characters, found 1001");
  });

  test("is told in the words of another place", () => {
    const texts = { ...messageTexts, empty: () => "no hay nada" };
    expect(messageText(message("empty"), texts)).toBe("no hay nada");
  });

  test.each([
    [message("idUnknown", "7"), "the id 7 does not belong to this animal in this store"],
    [message("fieldCount", "2", "1"), "expected 2 fields as in the header, found 1 field"],
    [message("webPage", ""), "the input is a web page, not a file of animals"],
    [message("webPage", "Sign in"), 'the input is a web page ("Sign in"), not a file of animals'],
  ])("%j counts what it names", (said, words) => {
    expect(messageText(said)).toContain(words);
  });
});
