import { readFileSync } from "node:fs";

const passwdFile = "/etc/passwd";

export interface SystemAccount {
  /** Its name, or `uid 1000` where it has none. */
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * The name of `uid` in the machine's user file, or `uid 1000` if it has none. Bun's `userInfo()`
 * reads the variable USER instead.
 */
export function userName(uid: number, passwd = readPasswd): string {
  const [name = ""] = entries(passwd).find((fields) => fields[2] === String(uid)) ?? [];
  return name === "" ? `uid ${uid}` : name;
}

export function accountNamed(name: string, passwd = readPasswd): SystemAccount | undefined {
  const found = entries(passwd).find((fields) => fields[0] === name);
  return found === undefined ? undefined : { name, uid: Number(found[2]), gid: Number(found[3]) };
}

function readPasswd(): string {
  return readFileSync(passwdFile, "utf8");
}

/** The lines of the file in their fields, or none: an image may come without it. */
function entries(passwd: () => string): string[][] {
  try {
    return passwd()
      .split("\n")
      .map((line) => line.split(":"));
  } catch {
    return [];
  }
}
