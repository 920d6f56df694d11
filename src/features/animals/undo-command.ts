import { Command } from "commander";
import { isoSeconds } from "../../domain/clock.ts";
import type { UndoReport } from "./animals.ts";
import { printJson, type Io } from "../../cli/io.ts";
import { addJson, json } from "../../cli/json.ts";
import { withAnimals } from "./open.ts";
import { parseInt64Value } from "./pets/options.ts";
import { addSettings, storeSettings, yesOption } from "../../cli/options.ts";
import { ProgressLine } from "../progress.ts";
import { confirm } from "../../cli/terminal/confirm.ts";
import { counted, grouped } from "../../cli/terminal/text.ts";

export const undoneSchema = json.object({
  change: json.int64("the change that was undone"),
  action: json.text("what it was"),
  actor: json.text("who did it"),
  at: json.time("when"),
  updated: json.count("animals whose fields were restored"),
  removed: json.count("animals that the change had added or restored, now removed"),
  restored: json.count("animals that the change had removed, now restored"),
  left: json.count("animals left unchanged, because they were changed since"),
  categories: json.count("categories that were restored"),
});

/** `rehome undo`: takes the last change of animals or categories back. */
export function undoCommand(io: Io): Command {
  const command = new Command("undo")
    .description("show the last change of animals or categories, and undo it")
    .argument("[change]", "another change, by its number in pets history", parseInt64Value)
    .addOption(yesOption("do not ask; required without a terminal"))
    .addHelpText(
      "after",
      `
An import is one change. Animals that were changed since stay as they are, and are counted. Changes are kept for 90 days.
Animals that programs add through the API cannot be undone. More than 5,000 animals are undone in parts, so that a server on
the store keeps responding; if an undo is interrupted, run it again.

Examples:
  rehome undo
  rehome undo --yes --json`,
    );
  addJson(addSettings(command, storeSettings), undoneSchema);
  return command.action(
    async (change: bigint | undefined, options: { yes?: true; json?: true }) => {
      await withAnimals(command, io, async ({ animals }) => {
        const wanted = change === undefined ? {} : { change };
        let did: UndoReport;
        const would = await animals.undo({ ...wanted, rehearse: true });
        const { id, action, actor, atMs } = would.change;
        io.err(`Change ${id}: ${action} by ${actor}, ${isoSeconds(atMs)}. ${effectOf(would)}\n`);
        await confirm(io, "Undo it?", {
          yes: options.yes === true,
          unattended: "refuse",
          why: "This undoes a change",
        });
        const line = new ProgressLine(io, () => performance.now());
        const onProgress = (done: number, total: number) =>
          line.show({ label: "Undoing", done, unit: "animals", fraction: done / total });
        try {
          // The change that was shown, even if there is a newer one.
          did = await animals.undo({ change: id, onProgress, stop: io.stop });
        } finally {
          line.clear();
        }
        if (options.json) printJson(io, undoneJson(did));
        else
          io.out(
            `${isNothing(did) ? "Nothing was changed" : `Undid change ${id}`}. ${effectOf(did)}\n`,
          );
      });
    },
  );
}

function isNothing({ updated, removed, restored, categories }: UndoReport): boolean {
  return updated + removed + restored + categories.length === 0;
}

/** What an undo does to animals and categories, in a sentence. */
function effectOf({ updated, removed, restored, left, categories }: UndoReport): string {
  const parts = [
    [updated, "changed back"],
    [removed, "removed"],
    [restored, "brought back"],
  ] as const;
  const animals = parts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${grouped(count)} ${what}`);
  const named =
    categories.length === 0
      ? []
      : [`${counted(categories.length, "category", "categories")} changed back`];
  const done = [...(animals.length === 0 ? [] : [`Animals: ${animals.join(", ")}`]), ...named];
  const kept =
    left === 0
      ? ""
      : ` ${grouped(left)} left unchanged, because ${left === 1 ? "it was" : "they were"} changed since.`;
  return `${done.length === 0 ? "Nothing of it is left to undo" : done.join("; ")}.${kept}`;
}

function undoneJson(did: UndoReport) {
  const { id, action, actor, atMs } = did.change;
  const { updated, removed, restored, left, categories } = did;
  const counts = { updated, removed, restored, left, categories: categories.length };
  return { change: id, action, actor, at: isoSeconds(atMs), ...counts };
}
