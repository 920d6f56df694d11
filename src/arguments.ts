import { withoutSecrets } from "./domain/api-key.ts";
import { withoutPassword } from "./setting-kinds.ts";

/** Where a process finds its arguments that stand masked in its list of them. */
const hiddenVariable = "_REHOME_ARGUMENTS";

/** `argument` as anybody may see it: without an API key or a database's password. */
function masked(argument: string): string {
  const [, flag = "", address] = /^(--[\w-]+=)?(postgres(?:ql)?:\/\/.*)$/is.exec(argument) ?? [];
  return withoutSecrets(address === undefined ? argument : flag + withoutPassword(address));
}

/**
 * The arguments of this process, without the program's name. If one is secret, the process restarts
 * itself with that one masked (execve(2)), because the process list and Bun's crash report show all
 * arguments.
 */
export function givenArguments(): string[] {
  const hidden = process.env[hiddenVariable];
  delete process.env[hiddenVariable];
  if (hidden !== undefined) return JSON.parse(hidden) as string[];
  const given = process.argv.slice(2);
  const shown = given.map(masked);
  if (Bun.isStandaloneExecutable && shown.some((argument, at) => argument !== given[at])) {
    const env = { ...process.env, [hiddenVariable]: JSON.stringify(given) };
    process.execve?.(process.execPath, [process.argv0, ...shown], env);
  }
  return given;
}
