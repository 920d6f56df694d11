import { readFileSync } from "node:fs";
import type { EnvironmentVariables } from "../config.ts";

const passwdFile = "/etc/passwd";

/** Who is at the keyboard, as the operating system knows them. */
export function actor(env: EnvironmentVariables): string {
  return actorOf(env, process.getuid?.(), () => readFileSync(passwdFile, "utf8"));
}

/**
 * The user behind sudo, else the name that `passwd` has for `uid`, else the number. Bun's `userInfo()` is no help: it
 * takes the name from the variable USER.
 */
export function actorOf(
  env: EnvironmentVariables,
  uid: number | undefined,
  passwd: () => string,
): string {
  const behindSudo = env["SUDO_USER"];
  if (behindSudo !== undefined && behindSudo !== "") return behindSudo;
  if (uid === undefined) return "unknown";
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
