import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { settings, type Config } from "../../../config.ts";
import { shellWord } from "../../../domain/errors.ts";
import { ownership } from "../../../storage/sqlite/folder.ts";
import { userName } from "../../../storage/system-account.ts";
import { warn, type Finding } from "./finding.ts";

/** Bits of a mode for the users that are neither the owner nor in the group. */
const others = { read: 0o004, enter: 0o001 } as const;

/** Files with a password or a private key that every user of this machine can read. */
export function checkSecrets({ storeFile, tlsKey }: Config): Finding[] {
  const files = { storeFile, tlsKey };
  return (["storeFile", "tlsKey"] as const).flatMap((name) => {
    const file = files[name];
    if (file === undefined || !everybodyReads(file)) return [];
    const detail = `every user can read the file of --${settings[name].flag}, ${file}: it ${ownership(file)}`;
    return [warn("secret", detail, closing(file))];
  });
}

function everybodyReads(file: string): boolean {
  try {
    const path = realpathSync(file);
    if (!allows(path, others.read)) return false;
    for (let at = dirname(path); at !== dirname(at); at = dirname(at)) {
      if (!allows(at, others.enter)) return false;
    }
    return true;
  } catch {
    // Another check says why a file cannot be read.
    return false;
  }
}

function allows(path: string, bit: number): boolean {
  return (statSync(path).mode & bit) !== 0;
}

/** The command that leaves the file to the user of this process, who has to read it. */
function closing(file: string): string {
  const word = shellWord(file);
  const user = process.geteuid?.() ?? 0;
  const owned =
    statSync(file).uid === user ? "" : `chown ${userName(user).replace(/^uid /, "")} ${word}; `;
  return `${owned}chmod 600 ${word}`;
}
