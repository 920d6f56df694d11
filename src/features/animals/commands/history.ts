import type { Command } from "commander";
import { jsonText } from "../../../domain/exact-json.ts";
import { isoSeconds } from "../../../domain/clock.ts";
import { plainPet } from "../../../domain/pet.ts";
import type { AnimalHistory, FieldValue, HistoryEvent } from "../history.ts";
import { printJson, type Io } from "../../../cli/io.ts";
import { json } from "../../../cli/json.ts";
import { storeCommand } from "../open.ts";
import { printTable } from "../../../cli/terminal/table.ts";
import { fieldSchemas, idArgument, petSchema, petText } from "./fields.ts";

const fieldsSchema = json.object({
  ...fieldSchemas,
  externalId: json.optional(json.text("its id in the source of the import")),
  source: json.text("source of that id; empty if unknown"),
});

export const historySchema = json.object({
  pet: petSchema,
  removed: json.flag("whether it was removed"),
  created: json.object({
    at: json.optional(json.time("when it was added; absent if unknown")),
    by: json.optional(json.text("who added it: a person, an account, or a key by its label")),
    action: json.optional(json.text("how: create through the interface, add, import")),
    change: json.optional(json.int64("the change, if rehome undo can reverse it")),
  }),
  events: json.list(
    json.object({
      at: json.time("when"),
      actor: json.text("who changed it"),
      action: json.text("what was done"),
      change: json.int64("the change, which rehome undo reverses as a whole"),
      before: json.optional(fieldsSchema),
      after: json.optional(fieldsSchema),
    }),
    { description: "what happened to it in the last 90 days, oldest first" },
  ),
});

export function historyCommand(io: Io): Command {
  return storeCommand<object, [bigint]>(
    io,
    {
      name: "history",
      about: "show the history of an animal: when, who, and the values before and after",
      arguments: [idArgument("id of the animal, which may be removed")],
      remark:
        "CHANGE is the number for rehome undo. Changes are kept for 90 days. The origin of an animal is kept as long as the animal.",
      examples: ["rehome pets history 17", "rehome pets history 17 --json | jq '.events[].actor'"],
      json: historySchema,
    },
    async ({ animals }, given, id) => {
      const history = await animals.history(id);
      if (given.json) printJson(io, historyJson(history));
      else printHistory(io, history);
    },
  );
}

type Fields = Readonly<Record<string, unknown>>;

/** The fields without those that are null. */
function shown(fields: Fields | undefined): Fields | undefined {
  return fields && Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** What `--json` prints: JSON leaves out what is undefined. */
function historyJson({ pet, isRemoved, created, events }: AnimalHistory) {
  const { atMs, by, action, change } = created;
  return {
    pet: plainPet(pet),
    removed: isRemoved,
    created: { at: atMs === undefined ? undefined : isoSeconds(atMs), by, action, change },
    events: events.map((event) => ({
      at: isoSeconds(event.atMs),
      actor: event.actor,
      action: event.action,
      change: event.change,
      before: shown(event.before),
      after: shown(event.after),
    })),
  };
}

function printHistory(io: Io, { pet, isRemoved, created, events }: AnimalHistory): void {
  io.out(`${petText(pet)}${isRemoved ? ", removed" : ""}\n\n`);
  const { atMs, by = "-", action = "-", change = "-" } = created;
  printTable(
    io,
    [
      { title: "WHEN" },
      { title: "WHO", optional: true },
      { title: "CHANGE", align: "right" },
      { title: "ACTION", optional: true },
      { title: "WHAT", flexible: true },
    ],
    [
      atMs === undefined
        ? ["-", by, String(change), action, "not recorded"]
        : [isoSeconds(atMs), by, String(change), action, "added"],
      ...events.map((event) => [
        isoSeconds(event.atMs),
        event.actor,
        String(event.change),
        event.action,
        textOfEvent(event),
      ]),
    ],
  );
}

const didWords = { withdrawn: "withdrawn", removed: "removed", restored: "brought back" };

/** What an event did, in words: `brought back, name "Rex" to "Max", status available to none`. */
function textOfEvent({ did, changed: changes }: HistoryEvent): string {
  const changed = changes.map(
    ({ field, before, after }) => `${field} ${textOf(field, before)} to ${textOf(field, after)}`,
  );
  return [...(did === undefined ? [] : [didWords[did]]), ...changed].join(", ");
}

function textOf(field: string, value: FieldValue): string {
  if (value === null || (field === "source" && value === "")) return "none";
  return typeof value === "string" && /^\w+$/.test(value) ? value : jsonText(value);
}
