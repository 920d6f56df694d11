import { readFileSync } from "node:fs";

const passwdFile = "/etc/passwd";

/**
 * The name that the machine's user file has for `uid`, or `uid 1000` where it has none. Bun's `userInfo()` is no help: it
 * takes the name from the variable USER.
 */
export function userName(
  uid: number,
  passwd: () => string = () => readFileSync(passwdFile, "utf8"),
): string {
  const entry = lines(passwd).find((line) => line.split(":")[2] === String(uid));
  const name = entry?.split(":")[0];
  return name === undefined || name === "" ? `uid ${uid}` : name;
}

/** The lines of the file, or none: an image may come without it. */
function lines(passwd: () => string): string[] {
  try {
    return passwd().split("\n");
  } catch {
    return [];
  }
}
