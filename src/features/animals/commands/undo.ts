import { printJson } from "../../json.ts";
import { json } from "../../json.ts";
import { yesOption } from "../../options.ts";
import { confirm } from "../../confirm.ts";
import { counted, grouped } from "../../../cli/terminal/text.ts";
import { isoSeconds } from "../../../domain/clock.ts";
import { isNothing, undoChange, type UndoReport } from "../undo.ts";
import { storeCommand } from "../../command.ts";
import { editingOf } from "../changes.ts";
import { idArgument } from "./pets.ts";

const undoneSchema = json.object({
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

export const undoCommand = storeCommand<{ readonly yes?: true }, [bigint | undefined]>({
  name: "undo",
  about: "show the last change of animals or categories, and undo it",
  arguments: [idArgument("another change, by its number in pets history", "[change]")],
  options: [yesOption("do not ask; required without a terminal")],
  remark: `An import is one change. Animals that were changed since stay as they are, and are counted. Changes are stored for 90 days.
Animals that programs add through the API cannot be undone.`,
  examples: ["rehome undo", "rehome undo --yes --json"],
  json: undoneSchema,
  async run(io, services, given, wanted) {
    const editing = editingOf(services);
    const say = ({ change: { id, action, actor, atMs } }: UndoReport, effect: string) =>
      io.err(`Change ${id}: ${action} by ${actor}, ${isoSeconds(atMs)}.${effect}\n`);
    let change = wanted;
    if (given.yes !== true) {
      const would = await undoChange(editing, { change, rehearse: true });
      say(would, ` ${effectOf(would)}`);
      const why = "This undoes a change";
      await confirm(io, "Undo it?", { yes: false, unattended: "refuse", why });
      // The change that was shown, even if there is a newer one.
      change = would.change.id;
    }
    const did = await undoChange(editing, { change });
    if (given.yes === true) say(did, "");
    if (given.json) {
      const { id, action, actor, atMs } = did.change;
      const { updated, removed, restored, left, categories } = did;
      const counts = { updated, removed, restored, left, categories: categories.length };
      return printJson(io, { change: id, action, actor, at: isoSeconds(atMs), ...counts });
    }
    const what = isNothing(did) ? "Nothing was changed" : `Undid change ${did.change.id}`;
    io.out(`${what}. ${effectOf(did)}\n`);
  },
});

function effectOf({ updated, removed, restored, left, categories }: UndoReport): string {
  const counts = { "changed back": updated, removed, "brought back": restored };
  const animals = Object.entries(counts).flatMap(([what, count]) =>
    count === 0 ? [] : [`${grouped(count)} ${what}`],
  );
  const named = counted(categories.length, "category", "categories");
  const done = [
    ...(animals.length === 0 ? [] : [`Animals: ${animals.join(", ")}`]),
    ...(categories.length === 0 ? [] : [`${named} changed back`]),
  ];
  const were = left === 1 ? "it was" : "they were";
  const rest = left === 0 ? "" : ` ${grouped(left)} left unchanged, because ${were} changed since.`;
  return `${done.length === 0 ? "Nothing of it is left to undo" : done.join("; ")}.${rest}`;
}
