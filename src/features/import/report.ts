/** What became of a list, or would: for a person, and as JSON. */
import type { TProperties } from "@sinclair/typebox";
import { counted, grouped } from "../../cli/terminal/text.ts";
import { shellWord } from "../../domain/errors.ts";
import { json, type Static } from "../json.ts";
import type { Planned } from "./import.ts";
import { messageText } from "./messages.ts";
import { reportsMax } from "./plan/plan.ts";
import { fieldMapText } from "./understand/columns.ts";
import { confirmedReading, type Prepared } from "./understand/propose.ts";
import { type Gone, problemsMax, type Rejection } from "./understand/record.ts";
import { type Meaning, meanings, pairsText, wordKey } from "./understand/words.ts";

const { count, flag, list, object, oneOf, orNull, text } = json;
const rows = <F extends TProperties>(fields: F) => list(object(fields));

const animal = {
  id: json.int64("id of the animal"),
  name: text("its name here"),
  fields: rows({
    field: oneOf(["name", "category", "status", "presence"], "what of it"),
    before: orNull(text("as it was, or is here; of `presence`: there or gone")),
    after: orNull(text("as it is, or as the list says")),
  }),
};
const changedAnimal = object({
  ...animal,
  did: oneOf(["updated", "withdrawn", "restored", "kept"], "what became of it"),
});
const keptAnimal = object({ ...animal, by: orNull(text("who changed it last, if that is known")) });

export const importSchema = object({
  format: text("format that the input was read as"),
  shape: oneOf(["json", "ndjson", "csv", "xlsx"], "how its records are laid out"),
  source: text("whose ids its animals have; empty when nobody said"),
  dryRun: flag("true with --dry-run"),
  applied: flag("false when nothing was changed: a dry run, or too many bad records"),
  change: orNull(json.int64("number of the change, for `undo`; null when nothing was changed")),
  guessed: flag("true if columns were guessed"),
  columns: rows({ field: text("field of an animal"), column: text("its column") }),
  read: count("records read"),
  added: count("animals added, or that would be"),
  updated: count("animals changed, or that would be"),
  unchanged: count("animals that were the same already"),
  withdrawn: count("animals taken out because they are gone, or that would be"),
  missing: count("those of them that the source's whole list does not have (--complete)"),
  kept: count("animals that stay as people changed them, though the list says otherwise"),
  waiting: count("available animals that lost their status, as its word is not known"),
  animals: list(changedAnimal, {
    description: `the first ${reportsMax} that are changed, withdrawn or brought back`,
  }),
  keptAnimals: list(keptAnimal, { description: `the first ${reportsMax} that are kept` }),
  superseded: count("older records of animals that have a newer one in the input"),
  rejected: count("bad records"),
  causes: rows({
    field: text("field at fault; empty for the record as a whole"),
    problem: text("what is wrong, in the words of the first of them"),
    records: count("how many records"),
    lines: list(count("one of the first lines; the number of the record for JSON")),
  }),
  skipped: count("sound records of animals that are not for adoption"),
  skippedReasons: rows({ reason: text("why"), records: count("how many of them") }),
  stems: rows({
    word: text("status that was read by a stem"),
    meaning: oneOf(meanings, "what it was taken for"),
  }),
  notes: rows({
    text: text("what to know about some records that are taken, or about the file"),
    records: count("how many records; 0 for the file as a whole"),
    firstLine: count("line of the first of them"),
    example: text("its value"),
  }),
  categoriesAdded: rows({ id: json.int64("new id"), name: text("name of the category") }),
});

/** An animal that was here, and what an import does to it: from what to what. */
export type AnimalReport = Static<typeof changedAnimal>;

/** Causes that are told, which hold values of the input; every word that is to be answered is. */
const causesMax = 300;
const firstShown = 5;
const reasonsMax = 20;

export type ImportSummary = ReturnType<typeof summary>;

/**
 * What an input is, and what became of every record: `added`, `updated`, `unchanged`, `superseded`,
 * `skipped` and `rejected` add up to `read`. Whom a bad record hides is updated, too.
 */
export function summary(prepared: Prepared, found: Planned, applied: boolean) {
  const { input, reading, isGuessed, understanding } = prepared;
  const { plan, newest, rejections, records, people, categories } = found;
  const pets = records.filter((each) => each.kind === "pet");
  const gone = records.filter((each) => each.kind === "gone");
  const statuses = { available: 0, pending: 0, sold: 0, none: 0 };
  for (const { status } of pets) statuses[status ?? "none"] += 1;
  return {
    format: reading.format,
    shape: input.shape,
    source: reading.source,
    /** How it was read; confirmed, it reads the next list the same way. */
    reading: confirmedReading(prepared),
    isGuessed,
    dryRun: true,
    change: undefined as bigint | undefined,
    applied,
    categoriesAdded: found.newCategories,
    read: understanding.outcomes.length,
    ...plan.counts,
    superseded: newest.superseded,
    skipped: gone.length,
    skippedReasons: skippedOf(gone),
    statuses,
    stems: [...understanding.stems].map(([word, meaning]) => ({ word, meaning })),
    rejected: rejections.length,
    rejections: rejections.slice(0, problemsMax),
    causes: causesOf(rejections),
    notes: [...input.notes, ...understanding.notes, ...plan.notes.list()],
    /** Why the import itself is refused, where a dry run goes on. */
    refusal: found.refusal,
    /** The first animals, each with the name that its category has here. */
    sample: pets.slice(0, firstShown).map(({ name, category, status, externalId }) => {
      return { name, category: categories.nameOf(categories.idOf(category)), status, externalId };
    }),
    /** New animals that may be here already: the first of them. */
    lookalikes: plan.lookalikes
      .slice(0, reportsMax)
      .map(({ record: { line }, animal: { id, name, status } }) => ({ line, id, name, status })),
    animals: plan.changed,
    /** Of one that is kept, `fields` are what is here, and what the list says. */
    keptAnimals: plan.kept.map((each) => ({ ...each, by: people.get(each.id) ?? null })),
  };
}

/** Those that are not for adoption by why, the most frequent first: each date is a reason. */
function skippedOf(gone: readonly Gone[]) {
  const reasons = [...Map.groupBy(gone, ({ reason }) => reason)]
    .map(([reason, all]) => ({ reason, records: all.length }))
    .toSorted((one, other) => other.records - one.records);
  const records = reasons.splice(reasonsMax).reduce((sum, each) => sum + each.records, 0);
  return records === 0 ? reasons : [...reasons, { reason: "other reasons", records }];
}

/** The rejections by what is wrong, the most frequent first. */
function causesOf(rejections: readonly Rejection[]) {
  const causes = [...Map.groupBy(rejections, causeOf).values()].map((all) => {
    const [{ field, problem, unknownStatus }] = all as [Rejection];
    const lines = all.slice(0, firstShown).map(({ line }) => line);
    return { field, problem, records: all.length, lines, unknownStatus };
  });
  return causes
    .toSorted((a, b) => b.records - a.records || (a.lines[0] ?? 0) - (b.lines[0] ?? 0))
    .filter(({ unknownStatus }, at) => at < causesMax || unknownStatus !== undefined);
}

/**
 * What was found differs from record to record; what was expected does not. A word is one in any
 * case, and its message may be cut.
 */
function causeOf({ field, problem, unknownStatus: word }: Rejection): string {
  if (word !== undefined) return `${field}: status ${wordKey(word) || word}`;
  return `${field}: ${messageText(problem).replace(/, found [^]*$|^the id \d+ /g, "")}`;
}

/** The document of `--json`: what the schema has of a summary. */
export function importedJson(summary: ImportSummary): Readonly<Record<string, unknown>> {
  const { reading, change = null, causes, notes } = summary;
  const all: Readonly<Record<string, unknown>> = {
    ...summary,
    change,
    guessed: summary.isGuessed,
    columns: Object.entries(reading.columns ?? {}).map(([field, column]) => ({ field, column })),
    causes: causes.map(({ field, problem, records, lines }) => {
      return { field, problem: messageText(problem), records, lines };
    }),
    notes: notes.map(({ said, ...each }) => ({ text: messageText(said), ...each })),
  };
  return Object.fromEntries(Object.keys(importSchema.properties).map((name) => [name, all[name]]));
}

const words: Readonly<Record<Meaning, string>> = {
  available: "available",
  pending: "pending",
  sold: "sold (adopted)",
  none: "without a status",
  gone: "not for adoption",
};

const unitOf = ({ shape }: ImportSummary) => (shape === "json" ? "record" : "line");

function counts(rows: readonly (readonly [count: number, what: string])[]): string {
  const width = Math.max(...rows.map(([count]) => grouped(count).length));
  return rows.map(([count, what]) => `  ${grouped(count).padStart(width)}  ${what}\n`).join("");
}

export function importedText(summary: ImportSummary): string {
  const { format, shape, applied, missing, animals, keptAnimals, updated, withdrawn } = summary;
  const { waiting, kept, isGuessed } = summary;
  const would = applied ? "" : "would be ";
  const lacking = missing === 0 ? "" : `, ${grouped(missing)} of them not in the whole list`;
  const rows: readonly (readonly [number, string])[] = [
    [summary.added, `${would}added`],
    [updated, `${would}updated`],
    [summary.unchanged, "unchanged"],
    [withdrawn, `${would}withdrawn${lacking}`],
    [kept, "of them kept as people changed them"],
    [waiting, `${would}hidden until a word is explained`],
    [summary.superseded, "older records of animals that have a newer one"],
    ...summary.skippedReasons.map(
      (each) => [each.records, `not for adoption: ${each.reason}`] as const,
    ),
    [summary.rejected, "bad"],
  ];
  const notes = summary.notes.map(({ said, records, firstLine, example }) => {
    const shown = example && `: ${example}`;
    const first = firstLine === 0 ? "" : `, first on ${unitOf(summary)} ${firstLine}${shown}`;
    return `Note: ${messageText(said)}${records > 0 ? ` (${grouped(records)}${first})` : ""}.\n`;
  });
  const restored = animals.filter(({ did }) => did === "restored").length;
  return [
    `Read ${counted(summary.read, "record")} (${isGuessed ? "guessed" : format}, ${shape}).\n`,
    ...understoodTexts(summary),
    counts(rows.filter(([count], at) => at < 3 || count > 0)),
    ...summary.categoriesAdded.map(
      ({ id, name }) => `Category ${name} ${applied ? "is" : "would be"} ${id}.\n`,
    ),
    ...notes,
    ...named(updated + withdrawn + waiting + restored, animals),
    ...named(kept, keptAnimals),
  ].join("");
}

const titles: Readonly<Record<string, string>> = {
  categoryId: "category",
  externalId: "id",
  updatedAt: "date",
};

function understoodTexts({ isGuessed, reading, statuses, stems, skipped }: ImportSummary) {
  const { columns = {}, category, kindByBreed, defaultStatus } = reading;
  const means = (of: string, all: readonly (readonly [word: string, meaning: Meaning])[]) => {
    const said = all.map(([word, meaning]) => `${word} is ${words[meaning]}`);
    return all.length === 0 ? [] : [`  ${of}: ${said.join(", ")}.\n`];
  };
  const sensed = stems.map(({ word, meaning }) => [JSON.stringify(word), meaning] as const);
  const bySense = means("Taken by their sense", sensed);
  if (!isGuessed) return bySense;
  const arrows = Object.entries(columns).map(
    ([name, column]) => `${column} -> ${titles[name] ?? name}`,
  );
  if (category !== undefined) arrows.push(`all -> category ${category}`);
  else if (kindByBreed) arrows.push("breed or picture -> category");
  const found = Object.entries({ ...statuses, gone: skipped })
    .filter(([, count]) => count > 0)
    .map(([meaning, count]) => `${grouped(count)} ${words[meaning as Meaning]}`);
  const isStem = new Set(stems.map(({ word }) => word));
  const own = Object.entries(reading.statuses).filter(([word]) => !isStem.has(word));
  if (defaultStatus !== undefined) own.push(["blank", defaultStatus]);
  const first = `  ${arrows.join(", ")}: ${found.join(", ") || "nobody"}\n`;
  return [first, ...means(`In ${columns.status ?? "the list"}`, own), ...bySense];
}

/** Animals that are named in a report for a person; `--json` has more. */
const namedMax = 10;

/** The first of so many animals, a line each. */
function named(count: number, all: ImportSummary["keptAnimals"] | readonly AnimalReport[]) {
  const lines = all.slice(0, namedMax).map((each) => `  ${animalText(each)}\n`);
  const left = count - lines.length;
  return left > 0 && lines.length > 0 ? [...lines, `  and ${grouped(left)} more\n`] : lines;
}

/** Such as `"Bruno": kept as people changed it by Ana (status sold, listed as available)`. */
function animalText({ name, did, fields, by }: AnimalReport & { by?: string | null }): string {
  const said = fields.map(({ field, before, after }) => {
    if (field === "presence")
      return before === "gone" ? "removed, but listed" : "here, but not listed";
    const [was, is] = [before, after].map((value) =>
      field === "status" ? words[(value ?? "none") as Meaning] : JSON.stringify(value ?? ""),
    );
    return `${field} ${was}${did === "kept" ? ", listed as" : " ->"} ${is}`;
  });
  const who = by ? ` by ${by}` : "";
  const kept = `kept as people changed it${who} (${said.join("; ")})`;
  const others = did === "updated" ? said.join(", ") : did;
  return `${name === "" ? "Unnamed" : JSON.stringify(name)}: ${did === "kept" ? kept : others}`;
}

/** Causes that are shown to a person; `--json` has more. */
const shownCausesMax = 20;

/** What is wrong with the rejected records, a line for each cause, and where all of them are. */
export function causesText(summary: ImportSummary, rejects = ""): string {
  const rows = summary.causes.map(({ field, problem, records, lines: at }) => {
    const where = `${at.length > 1 ? "s" : ""} ${at.join(", ")}${records > at.length ? ", ..." : ""}`;
    const what = `${field && `${field}: `}${messageText(problem)} (${unitOf(summary)}${where})`;
    return [records, what] as const;
  });
  const left = rows.splice(shownCausesMax).length;
  const more = left > 0 ? `  and ${grouped(left)} more causes\n` : "";
  return `${counts(rows)}${more}${rejects && `  ${rejects}\n`}`;
}

/** Why nothing is imported, and what to do. */
export function refusedText(summary: ImportSummary, rejects: string, isAgreed = false): string {
  const { rejected, read, dryRun, causes, isGuessed } = summary;
  const unknown = causes.flatMap(({ unknownStatus = "" }) => {
    const word = unknownStatus.replaceAll(/["\s]+/g, " ").trim();
    return word === "" ? [] : [[word, "?"] as const];
  });
  const pairs = shellWord(pairsText(unknown));
  const remedies = [
    unknown.length > 0 && `Say what each ? means (${meanings.join(", ")}): --status ${pairs}.`,
    unknown.length > 0 &&
      rejected === read &&
      "If they tell nothing of adoption, say what all animals are with --default-status.",
    causes.some(({ problem }) => problem.code === "categoryUnknown") &&
      "Add --create-categories, or name them with: rehome categories add NAME --id ID.",
    isGuessed && !isAgreed && guessRemedy(summary),
    "Fix the records, or import the rest with --skip-bad.",
  ];
  const consequence = dryRun ? "nothing would be changed" : "nothing was changed";
  return `${grouped(rejected)} of ${grouped(read)} records cannot be imported, so ${consequence}.
${causesText(summary, rejects)}Try: ${remedies.filter((each) => each !== false).join(" ")}`;
}

/** How a script agrees to what was guessed. */
export function guessRemedy({ reading }: ImportSummary): string {
  const { columns = {}, statuses, defaultStatus, category, kindByBreed } = reading;
  if (kindByBreed) return "If the guess is right, add --accept-guess.";
  const said = Object.entries({
    map: fieldMapText(columns),
    category,
    status: pairsText(Object.entries(statuses)),
    "default-status": defaultStatus,
  }).flatMap(([option, value = ""]) => (value === "" ? [] : `--${option} ${shellWord(value)}`));
  return `If the guess is right, add --accept-guess, or say the same: ${said.join(" ")}.`;
}
