import { expect, test } from "bun:test";
import { reasonNotMade, reasonOf } from "../../src/domain/system-error.ts";

const failure = (code: string) => Object.assign(new Error(`${code}: open '/x'`), { code });

test("the usual mistakes are said without the system's codes", () => {
  expect(reasonOf(failure("ENOENT"))).toBe("there is no such file");
  expect(reasonOf(failure("EACCES"))).toBe("permission denied");
  expect(reasonOf(failure("EXDEV"))).toBe("EXDEV: open '/x'");
});

test("of a file to be made it is the folder that is missing", () => {
  expect(reasonNotMade(failure("ENOENT"))).toBe("its folder does not exist");
  expect(reasonNotMade(failure("EISDIR"))).toBe("it is a folder");
});
