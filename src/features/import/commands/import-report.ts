/** What an import says of itself: for a person, and as JSON. */
import { declared, fieldOf, json } from "../../json.ts";
import { counted, grouped } from "../../../cli/terminal/text.ts";
import { shellWord } from "../../../domain/errors.ts";
import type { ImportSummary, KeptAnimal } from "../do/summary.ts";
import { messageText } from "../messages.ts";
import { type AnimalReport, type FieldReport, reportsMax } from "../plan/reports.ts";
import { type FieldMap, fieldMapText } from "../understand/columns.ts";
import type { Reading } from "../understand/apply.ts";
import { statusWordsText } from "../understand/words.ts";
import { type Meaning, meanings } from "../understand/words.ts";

const cause = json.object({
  field: json.text("field at fault; empty for the record as a whole"),
  problem: json.text("what is wrong, in the words of the first of them"),
  records: json.count("how many records"),
  lines: json.list(json.count("one of the first lines; the number of the record for JSON")),
});
const note = json.object({
  text: json.text("what to know about some records that are taken, or about the file"),
  records: json.count("how many records; 0 for the file as a whole"),
  firstLine: json.count("line of the first of them"),
  example: json.text("its value"),
});

const nameOrNone = (about: string) => json.orNull(json.text(about));
const reportedFields = json.list(
  json.object({
    field: json.oneOf(["name", "category", "status", "presence"] as const, "what of it"),
    before: nameOrNone("as it was, or is here; of `presence`: there or gone"),
    after: nameOrNone("as it is, or as the list says"),
  }),
);
const reportedAnimal = {
  id: json.int64("id of the animal"),
  name: json.text("its name here"),
  fields: reportedFields,
};

const of = fieldOf<[summary: ImportSummary]>();
const { count, flag, list, object, text } = json;
/** How many there are of something: a number of the summary under the same name. */
const counts = (name: CountName, about: string) => of(count(about), (summary) => summary[name]);
type CountName = {
  [N in keyof ImportSummary]: ImportSummary[N] extends number ? N : never;
}[keyof ImportSummary];

const declaredFields = declared({
  format: of(text("format that the input was read as"), ({ format }) => format),
  shape: of(
    json.oneOf(["json", "ndjson", "csv", "xlsx"] as const, "how its records are laid out"),
    ({ shape }) => shape,
  ),
  source: of(text("whose ids its animals have; empty when nobody said"), ({ source }) => source),
  dryRun: of(flag("true with --dry-run"), ({ dryRun }) => dryRun),
  applied: of(
    flag(
      "false when nothing was changed: a dry run, or bad records without --skip-bad, or nothing but bad records",
    ),
    ({ applied }) => applied,
  ),
  change: of(
    json.orNull(json.int64("number of the change, for `undo`; null when nothing was changed")),
    ({ change }) => change ?? null,
  ),
  guessed: of(flag("true if columns were guessed"), ({ isGuessed }) => isGuessed),
  columns: of(
    list(object({ field: text("field of an animal"), column: text("its column") })),
    ({ reading }) =>
      Object.entries(reading.columns ?? {}).map(([field, column]) => ({ field, column })),
  ),
  read: counts("read", "records read"),
  added: counts("added", "animals added, or that would be"),
  updated: counts("updated", "animals changed, or that would be"),
  unchanged: counts("unchanged", "animals that were the same already"),
  withdrawn: counts("withdrawn", "animals taken out because they are gone, or that would be"),
  missing: counts(
    "missing",
    "those of them that the source's whole list does not have (--complete)",
  ),
  kept: counts("kept", "animals that stay as people changed them, though the list says otherwise"),
  waiting: counts("waiting", "available animals that lost their status, as its word is not known"),
  animals: of(
    list(
      object({
        ...reportedAnimal,
        did: json.oneOf(["updated", "withdrawn", "restored", "kept"] as const, "what became of it"),
      }),
      { description: `the first ${reportsMax} that are changed, withdrawn or brought back` },
    ),
    ({ animals }) => animals.map((each) => ({ ...each, fields: [...each.fields] })),
  ),
  keptAnimals: of(
    list(object({ ...reportedAnimal, by: nameOrNone("who changed it last, if that is known") }), {
      description: `the first ${reportsMax} that are kept`,
    }),
    ({ keptAnimals }) =>
      keptAnimals.map(({ id, name, fields, by = null }) => ({ id, name, fields: [...fields], by })),
  ),
  superseded: counts("superseded", "older records of animals that have a newer one in the input"),
  rejected: counts("rejected", "bad records"),
  causes: of(list(cause), ({ causes }) =>
    causes.map(({ field, problem, records, lines }) => {
      return { field, problem: messageText(problem), records, lines: [...lines] };
    }),
  ),
  skipped: of(count("sound records of animals that are not for adoption"), ({ skipped }) =>
    skipped.reduce((sum, { records }) => sum + records, 0),
  ),
  skippedReasons: of(
    list(object({ reason: text("why"), records: count("how many of them") })),
    ({ skipped }) => skipped.map((each) => ({ ...each })),
  ),
  stems: of(
    list(
      object({
        word: text("status that was read by a stem"),
        meaning: json.oneOf(meanings, "what it was taken for"),
      }),
    ),
    ({ stems }) => stems.map((each) => ({ ...each })),
  ),
  notes: of(list(note), (summary) =>
    notesOf(summary).map(({ said, ...each }) => ({ text: messageText(said), ...each })),
  ),
  categoriesAdded: of(
    list(object({ id: json.int64("new id"), name: text("name of the category") })),
    ({ categoriesAdded }) => categoriesAdded.map(({ id, name }) => ({ id, name })),
  ),
});

export const importSchema = json.object(declaredFields.schemas);
export const importedJson = declaredFields.make;

/** The notes, with what a dry run says where the import itself would be refused. */
function notesOf({ notes, refusal, missing }: ImportSummary): ImportSummary["notes"] {
  if (refusal === undefined) return notes;
  const why = refusal.message.replace(" Nothing was changed.", "");
  const said = { code: "wholeRefused", values: [why] } as const;
  return [...notes, { said, records: missing, firstLine: 0, example: "" }];
}

const words: Readonly<Record<Meaning, string>> = {
  available: "available",
  pending: "pending",
  sold: "sold (adopted)",
  none: "without a status",
  gone: "not for adoption",
};

export function importedText(summary: ImportSummary): string {
  const { format, shape, applied, read, added, updated, unchanged } = summary;
  const { superseded, skipped, rejected, categoriesAdded, withdrawn, missing } = summary;
  const would = applied ? "" : "would be ";
  const rows: (readonly [number, string])[] = [
    [added, `${would}added`],
    [updated, `${would}updated`],
    [unchanged, "unchanged"],
  ];
  if (withdrawn > 0) rows.push([withdrawn, `${would}withdrawn${missingWords(missing)}`]);
  if (summary.kept > 0) rows.push([summary.kept, "kept as people changed them"]);
  if (summary.waiting > 0) rows.push([summary.waiting, `${would}hidden until a word is explained`]);
  if (superseded > 0) rows.push([superseded, "older records of animals that have a newer one"]);
  for (const { reason, records } of skipped) rows.push([records, `not for adoption: ${reason}`]);
  if (rejected > 0) rows.push([rejected, "bad"]);
  const width = Math.max(...rows.map(([count]) => grouped(count).length));
  const lines = rows.map(([count, what]) => `  ${grouped(count).padStart(width)}  ${what}\n`);
  for (const { id, name } of categoriesAdded) {
    lines.push(`Category ${name} ${applied ? "is" : "would be"} ${id}.\n`);
  }
  for (const { said, records, firstLine, example } of notesOf(summary)) {
    const unit = shape === "json" ? "record" : "line";
    const first =
      firstLine === 0 ? "" : `, first on ${unit} ${firstLine}${example && `: ${example}`}`;
    const count = records === 0 ? "" : ` (${grouped(records)}${first})`;
    lines.push(`Note: ${messageText(said)}${count}.\n`);
  }
  const how = summary.isGuessed ? "guessed" : format;
  return `Read ${counted(read, "record")} (${how}, ${shape}).\n${understoodText(summary)}${lines.join("")}${animalsText(summary)}`;
}

/** Animals that are named in a report for a person; `--json` has more. */
const namedMax = 10;

interface Changes {
  readonly animals?: readonly Omit<AnimalReport, "id">[];
  readonly keptAnimals?: readonly Omit<KeptAnimal, "id">[];
  readonly updated: number;
  readonly withdrawn: number;
  readonly waiting?: number;
  readonly kept?: number;
}

/** From what to what animals change, and who is kept. */
export function animalsText(changes: Changes): string {
  const { animals = [], keptAnimals = [], updated, withdrawn, waiting = 0, kept = 0 } = changes;
  const restored = animals.filter(({ did }) => did === "restored").length;
  const of = (count: number, all: readonly string[]) => {
    const shown = all.slice(0, namedMax).map((line) => `  ${line}\n`);
    return count > shown.length && shown.length > 0
      ? [...shown, `  and ${grouped(count - shown.length)} more\n`]
      : shown;
  };
  const changed = animals.map(({ name, did, fields }) =>
    did === "updated"
      ? `${named(name)}: ${fields.map(fromTo).join(", ")}`
      : `${named(name)}: ${did}`,
  );
  return [
    ...of(updated + withdrawn + waiting + restored, changed),
    ...of(kept, keptAnimals.map(keptText)),
  ].join("");
}

const named = (name: string) => (name === "" ? "Unnamed" : JSON.stringify(name));

const valueText = (field: FieldReport["field"], value: string | null) =>
  field === "status" ? words[(value ?? "none") as Meaning] : JSON.stringify(value ?? "");

const fromTo = ({ field, before, after }: FieldReport) =>
  `${field} ${valueText(field, before)} -> ${valueText(field, after)}`;

/** Such as `"Bruno": kept as people changed it by Ana (status sold, listed as available)`. */
function keptText({ name, fields, by }: Omit<KeptAnimal, "id">): string {
  const said = fields.map(({ field, before, after }) => {
    if (field === "presence")
      return before === "gone" ? "removed, but listed" : "here, but not listed";
    return `${field} ${valueText(field, before)}, listed as ${valueText(field, after)}`;
  });
  const who = by === undefined ? "" : ` by ${by}`;
  return `${named(name)}: kept as people changed it${who} (${said.join("; ")})`;
}

function missingWords(missing: number): string {
  return missing === 0 ? "" : `, ${grouped(missing)} of them not in the whole list`;
}

const fieldTitles: Readonly<Partial<Record<keyof FieldMap, string>>> = {
  categoryId: "category",
  externalId: "id",
  updatedAt: "date",
};

/** What was guessed, and which words were read by their stems. */
function understoodText(summary: ImportSummary): string {
  const { reading, isGuessed, statuses, stems, skipped } = summary;
  const lines: string[] = [];
  if (isGuessed) {
    const columns = Object.entries(reading.columns ?? {}) as [keyof FieldMap, string][];
    const arrows = columns.map(([field, column]) => `${column} -> ${fieldTitles[field] ?? field}`);
    if (reading.category !== undefined) arrows.push(`all -> category ${reading.category}`);
    const gone = skipped.reduce((sum, { records }) => sum + records, 0);
    const counts = [...Object.entries(statuses), ["gone", gone] as const]
      .filter(([, count]) => count > 0)
      .map(([meaning, count]) => `${grouped(count)} ${words[meaning as Meaning]}`);
    lines.push(`  ${arrows.join(", ")}: ${counts.join(", ") || "nobody"}\n`);
    const isStem = new Set(stems.map(({ word }) => word));
    const own = Object.entries(reading.statuses).filter(([word]) => !isStem.has(word));
    if (reading.defaultStatus !== undefined) own.push(["blank", reading.defaultStatus]);
    const told = own.map(([word, meaning]) => `${word} is ${words[meaning]}`);
    if (told.length > 0)
      lines.push(`  In ${reading.columns?.status ?? "the list"}: ${told.join(", ")}.\n`);
  }
  if (stems.length > 0) {
    const told = stems.map(({ word, meaning }) => `${JSON.stringify(word)} is ${words[meaning]}`);
    lines.push(`  Taken by their sense: ${told.join(", ")}.\n`);
  }
  return lines.join("");
}

/** Causes that are shown to a person beside all the unknown words; `--json` has more. */
const causesMax = 20;

/** What is wrong with the rejected records, a line for each cause, and where all of them are. */
export function causesText(summary: ImportSummary, rejects: string | undefined): string {
  const { causes, shape } = summary;
  const unit = shape === "json" ? "record" : "line";
  const others = causes.filter(({ unknownStatus }) => unknownStatus === undefined);
  const left = new Set(others.slice(causesMax));
  const shown = causes.filter((each) => !left.has(each));
  const width = Math.max(...shown.map(({ records }) => grouped(records).length));
  const lines = shown.map(({ field, problem, records, lines: [...at] }) => {
    const where = `${unit}${at.length > 1 ? "s" : ""} ${at.join(", ")}${records > at.length ? ", ..." : ""}`;
    const text = messageText(problem);
    const what = field === "" ? text : `${field}: ${text}`;
    return `  ${grouped(records).padStart(width)}  ${what} (${where})\n`;
  });
  if (left.size > 0) lines.push(`  and ${grouped(left.size)} more causes\n`);
  if (rejects !== undefined) lines.push(`  ${rejects}\n`);
  return lines.join("");
}

export function refusedText(
  summary: ImportSummary,
  rejects: string | undefined,
  isAgreed = false,
): string {
  const { rejected, read, dryRun } = summary;
  const consequence = dryRun ? "nothing would be changed" : "nothing was changed";
  return `${grouped(rejected)} of ${grouped(read)} records cannot be imported, so ${consequence}.
${causesText(summary, rejects)}Try: ${remedies(summary, isAgreed).join(" ")}`;
}

function remedies(summary: ImportSummary, isAgreed: boolean): string[] {
  const { causes } = summary;
  const unknown = causes
    .flatMap(({ unknownStatus }) => unknownStatus ?? [])
    .map((word) => word.replaceAll(/["\s]+/g, " ").trim())
    .filter((word) => word !== "");
  const all: string[] = [];
  if (unknown.length > 0) {
    const pairs = statusWordsText(unknown.map((word) => [word, "?"] as const));
    all.push(`Say what each ? means (${meanings.join(", ")}): --status ${shellWord(pairs)}.`);
  }
  if (causes.some(({ unknownCategory }) => unknownCategory)) {
    all.push("Add --create-categories, or name them with: rehome categories add NAME --id ID.");
  }
  if (summary.isGuessed && !isAgreed) all.push(guessRemedy(summary));
  all.push("Fix the records, or import the rest with --skip-bad.");
  return all;
}

/** How a list is read, a line for each thing that was said or found. */
export function readingText(reading: Reading): string {
  const { format, source, columns = {}, category, statuses, defaultStatus, dayFirst } = reading;
  const pairs = (of: object) =>
    Object.entries(of)
      .map(([name, value]) => `${name} = ${value}`)
      .join(", ");
  const order = dayFirst === undefined ? undefined : dayFirst ? "the day first" : "the month first";
  const lines: readonly (readonly [string, string | undefined])[] = [
    ["Layout", format === "map" ? undefined : format],
    ["Source", source],
    ["Columns", pairs(columns)],
    ["Category", category],
    ["Words", pairs(statuses)],
    ["Blank status", defaultStatus],
    ["Dates", order],
    ["Believed", reading.believed?.join(", ")],
    ["Ignored", reading.ignored?.join(", ")],
    ["Sheet", reading.sheet],
    ["List", reading.records?.join(".")],
    ["Encoding", reading.encoding],
  ];
  return lines
    .flatMap(([title, value]) => (value ? [`${title.padEnd(14)}${value}\n`] : []))
    .join("");
}

/** How a script agrees to what was guessed. */
export function guessRemedy({ reading }: ImportSummary): string {
  const { columns = {}, statuses, defaultStatus, category } = reading;
  const options = [`--map ${shellWord(fieldMapText(columns))}`];
  if (category !== undefined) options.push(`--category ${shellWord(category)}`);
  const pairs = statusWordsText(Object.entries(statuses));
  if (pairs !== "") options.push(`--status ${shellWord(pairs)}`);
  if (defaultStatus !== undefined) options.push(`--default-status ${defaultStatus}`);
  return `If the guess is right, add --accept-guess, or say the same: ${options.join(" ")}.`;
}
