import type { Command } from "commander";
import type { ApiKey } from "../../domain/api-key.ts";
import type { KeyService } from "../../service/keys.ts";
import { printJson, type Io } from "../io.ts";
import { withServices } from "../open.ts";
import { configOf } from "../options.ts";
import { keyJson, limitsText } from "./shown.ts";

/** Runs one change of a key and shows what the key is now. It binds every server at its next request. */
export async function changeKey(
  command: Command,
  io: Io,
  options: { readonly json?: true },
  change: (keys: KeyService) => Promise<ApiKey>,
): Promise<void> {
  const { config } = configOf(command, io);
  await withServices(config, io, async ({ keys, clock }) => {
    const key = await change(keys);
    const shown = keyJson(key, clock());
    if (options.json) {
      printJson(io, shown);
      return;
    }
    const until = shown.bannedUntil === null ? "" : ` until ${shown.bannedUntil}`;
    io.out(
      `${key.id} "${key.name}" is ${shown.state}${until}: plan ${key.plan}, ${limitsText(key)}.\n`,
    );
  });
}
