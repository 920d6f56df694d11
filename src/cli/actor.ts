import type { EnvironmentVariables } from "../config.ts";
import { userName } from "../storage/account.ts";

/** Who is at the keyboard, as the operating system knows them. */
export function actor(env: EnvironmentVariables): string {
  return actorOf(env, process.getuid?.());
}

/** The user behind sudo, else the user with this id. */
export function actorOf(env: EnvironmentVariables, uid: number | undefined): string {
  const behindSudo = env["SUDO_USER"];
  if (behindSudo !== undefined && behindSudo !== "") return behindSudo;
  return uid === undefined ? "unknown" : userName(uid);
}
