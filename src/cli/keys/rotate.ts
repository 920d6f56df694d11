import type { Command } from "commander";
import { keyState } from "../../domain/api-key.ts";
import { dayMs, isoEnd } from "../../domain/clock.ts";
import { type Io, jsonDocument, writeSecret } from "../io.ts";
import { addJson } from "../json.ts";
import { withServices } from "../open.ts";
import { addSettings, configOf, durationOption } from "../options.ts";
import { printable } from "../terminal/text.ts";
import { keyCommand } from "./change.ts";
import { refuseOtherEnvironment } from "./environment.ts";
import { issuedJson, issuedSchema } from "./json.ts";

/** How long the old secret goes on after a rotation. */
const defaultGraceMs = dayMs;

export function rotateCommand(io: Io): Command {
  const command = addJson(
    keyCommand("rotate", "give a key a new secret; it keeps its counters, plan and bans"),
    issuedSchema,
  )
    .addOption(
      durationOption(
        "--grace <duration>",
        "how long the old secret stays valid; 0 ends it at once",
      ).default(defaultGraceMs, "24h"),
    )
    .addHelpText(
      "after",
      `
Examples:
  rehome keys rotate key_7h2m
  rehome keys rotate key_7h2m --grace 0     the old secret leaked`,
    );
  return addSettings(command, ["environment"]).action(
    async (reference: string, options: { grace: number; json?: true }) => {
      const loaded = configOf(command, io);
      await withServices(loaded.config, io, async (services) => {
        await refuseOtherEnvironment(services, loaded);
        const { keys, clock } = services;
        const issued = await keys.rotate(reference, options.grace);
        const nowMs = clock();
        const { id, name } = issued.key;
        const ifLost = `rehome keys rotate ${id}`;
        if (options.json) {
          return writeSecret(io, jsonDocument(issuedJson(issued, nowMs)), ifLost);
        }
        const old =
          options.grace === 0
            ? "The old one is refused from now on."
            : `The old one stays valid until ${isoEnd(nowMs + options.grace)}.`;
        io.err(
          `${id} "${printable(name)}" has a new secret. ${old} The new one is shown only now:\n`,
        );
        await writeSecret(io, `${issued.secret}\n`, ifLost);
        if (keyState(issued.key, nowMs) === "expired") {
          io.err(
            `The key expired ${isoEnd(issued.key.expiresAtMs ?? nowMs)}: it is refused until rehome keys update ${id} --expires-in 90d.\n`,
          );
        }
      });
    },
  );
}
