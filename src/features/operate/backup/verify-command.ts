import { Command } from "commander";
import { keyStates } from "../../../domain/api-key.ts";
import { isoSeconds, systemClock } from "../../../domain/clock.ts";
import { petStatuses } from "../../../domain/pet.ts";
import { printJson, type Io } from "../../../cli/io.ts";
import { addJson, json } from "../../../cli/json.ts";
import { counted, grouped } from "../../../cli/terminal/text.ts";
import { verifyBackup } from "./verify.ts";

const { text, count, list, object, orNull, time } = json;

export const verifiedSchema = object({
  file: text("file that was read"),
  bytes: count("size of the file"),
  animals: count("animals in it"),
  keys: count("keys in it"),
  statuses: object(
    Object.fromEntries(
      [...petStatuses, "none"].map((name) => [name, count(`animals of the status ${name}`)]),
    ),
  ),
  states: object(
    Object.fromEntries(keyStates.map((name) => [name, count(`keys that are ${name} now`)])),
  ),
  newest: orNull(time("newest change of a key")),
  pending: list(text("migration that a start from it would apply")),
});

/** `rehome backup verify FILE`: whether a backup can be restored, and what is in it. */
export function verifyCommand(io: Io): Command {
  const command = new Command("verify")
    .description("test a backup in memory, and print what it contains")
    .argument("<file>", "backup to test; it is not changed")
    .addHelpText(
      "after",
      `
It needs as much memory as the file has bytes, but no data folder. The exit code is 0 if the backup can be restored.

Examples:
  rehome backup verify /var/backups/rehome/rehome-20261121T063000Z.db
  rehome backup verify rehome.db --json | jq .animals`,
    );
  return addJson(command, verifiedSchema).action(async (file: string, options: { json?: true }) => {
    const found = await verifyBackup(file, systemClock);
    const { bytes, animals, keys, statuses, states, newestMs, pending } = found;
    const newest = newestMs === undefined ? null : isoSeconds(newestMs);
    if (options.json) {
      return printJson(io, { file, bytes, animals, keys, statuses, states, newest, pending });
    }
    const schema = pending.length === 0 ? "schema up to date" : `a start updates its schema`;
    io.out(`${file} can be restored: ${grouped(bytes)} bytes, read through, ${schema}.\n`);
    io.out(`  ${counted(animals, "animal")}${parts(statuses)}\n`);
    io.out(`  ${counted(keys, "key")}${parts(states)}\n`);
    if (newest !== null) io.out(`  newest change of a key: ${newest}\n`);
    return undefined;
  });
}

/** `: 2 sold, 1 available`, without what there is none of. */
function parts(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([, number]) => number > 0);
  if (some.length === 0) return "";
  return `: ${some.map(([name, number]) => `${grouped(number)} ${name === "none" ? "without a status" : name}`).join(", ")}`;
}
