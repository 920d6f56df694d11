/** `rehome sources`: lists that are followed. */
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { commandGroup, type Given, type StoreCommand, storeCommand } from "../command.ts";
import { UsageError } from "../usage-error.ts";
import { type Io } from "../../cli/io.ts";
import { declared, fieldOf, json, printJson } from "../json.ts";
import { durationOption, yesOption } from "../options.ts";
import { confirm } from "../confirm.ts";
import { flexible, printTable } from "../table.ts";
import { counted, printable } from "../../cli/terminal/text.ts";
import { hourMs, isoSeconds } from "../../domain/clock.ts";
import { durationText } from "../duration.ts";
import { intervalMinMs, setJob } from "../schedule/jobs.ts";
import type { Services } from "../../service/services.ts";
import { previewImport } from "../import/import.ts";
import { readList, type Reading } from "../import/understand/propose.ts";
import * as imports from "../import/command.ts";
import { importedText } from "../import/report.ts";
import { parseStatusWords } from "../import/understand/words.ts";
import { type Address, fetchList, presetNames, presetOf } from "./fetch.ts";
import * as lists from "./pull.ts";

export function sourcesCommand(io: Io): Command {
  const form = {
    name: "sources",
    about: "follow lists that other programs publish: the service imports them by itself",
    examples: [
      "rehome sources add north --preset asm --account ab1234 --secret-file asm-key.txt",
      "rehome sources add sheet --url 'https://docs.google.com/spreadsheets/d/e/.../pub?output=csv' --every 6h",
      "rehome sources list",
    ],
  };
  return commandGroup(io, form, [add, list, show, set, pullCommand, pause, resume, remove]);
}

type Texts = "preset" | "account" | "url" | "secretFile";
type Flags = "createCategories" | "acceptGuess" | "yes";
interface AddOptions
  extends imports.ReadingOptions, imports.Maybe<Texts, string>, imports.Maybe<Flags, true> {
  readonly every: number;
  readonly complete: boolean;
}

const everyRule = "must be a duration from 15m, such as 30m or 24h";
const everyOption = () =>
  durationOption("--every <duration>", "how often, from 15m", intervalMinMs, everyRule);

const nameArgument = () =>
  new Argument("<name>", "name of the list; its animals have it as their source");

const add = storeCommand<AddOptions, [name: string]>({
  name: "add",
  about: "follow a list: fetch it, show what would be imported, and ask",
  arguments: [
    nameArgument().argParser((text: string) => {
      if (/^[^\s:-][^\s:]{0,39}$/u.test(text)) return text;
      throw new InvalidArgumentError("It must have at most 40 characters, no blanks or colons.");
    }),
  ],
  options: [
    new Option("--preset <name>", "the program that has the list").choices(presetNames),
    new Option("--account <id>", "the account there"),
    new Option("--url <url>", "address of any other list, or of the program's own server"),
    new Option("--secret-file <file>", "file with the credential; - for standard input"),
    everyOption().default(hourMs, "1h"),
    new Option("--no-complete", "withdraw nobody that the list does not have"),
    new Option("--create-categories", "make new categories of the list, now and later"),
    new Option("--accept-guess", "agree to the columns that are guessed"),
    yesOption("do not ask"),
    ...imports.readingOptions(),
  ],
  remark: `The list is read from now on as it is read now: the same columns, the same words. It is whole unless you say --no-complete:
what it does not have any more is withdrawn, and more than half within a day waits for a person.`,
  examples: [
    "rehome sources add north --preset shelterluv --account 1 --secret-file key.txt",
    "rehome sources add vet --url https://vet.example.org/cats.csv --category Cat --every 30m --accept-guess --yes",
  ],
  run: (io, services, given, name) =>
    imports.inWords(name, () => addSource(io, services, given, name)),
});

async function addSource(io: Io, services: Services, given: Given<AddOptions>, name: string) {
  const { every: everyMs, complete, createCategories, acceptGuess, yes } = given;
  const pulling = lists.pullingOf(services, given.loaded);
  const { db, clock } = pulling;
  const address = await addressOf(io, given);
  const known = { ...presetOf(address.preset)?.reading, ...definedIn(imports.givenBy(given)) };
  // Its new categories are shown, and agreed to with it.
  const options = { createCategories: true, skipBad: true, complete, confirmed: true };
  const ask = io.canAsk && yes !== true ? (question: string) => io.ask(question) : imports.nobody;
  const shown = await fetchList(address, pulling);
  const told = { ...known, encoding: known.encoding ?? shown.encoding, source: name };
  const list = readList(shown.bytes, told);
  const { prepared, unsure } = await imports.preparedAsking(ask, list, told, shown.bytes);
  const preview = await previewImport(db, prepared, options);
  io.err(importedText(preview));
  if (preview.isGuessed && acceptGuess !== true && !io.canAsk) throw imports.guessRefused(preview);
  const ofAll = preview.reading.columns?.status
    ? "Those whose status is blank are for adoption. "
    : "No column says whether an animal is for adoption: all are. ";
  const follow = `Follow this list as ${name}, every ${durationText(everyMs)}?`;
  await confirm(io, `${unsure ? ofAll : ""}${follow}`, {
    yes: yes === true,
    unattended: "refuse",
    why: "The preview must be confirmed",
  });
  const source = {
    name,
    ...address,
    createdAtMs: clock(),
    createdBy: services.actor,
    // What its source says of the encoding may change.
    reading: { ...preview.reading, encoding: known.encoding },
    complete: complete ? 1 : 0,
    createsCategories: createCategories === true ? 1 : 0,
  };
  await db.transaction((tx) => lists.follow(tx, source, everyMs, clock() + everyMs));
  const done = await lists.pull(pulling, name, { shown });
  if (done === "unchanged") return;
  if (!(done instanceof Error)) return io.out(done.text);
  await lists.unfollow(db, name);
  throw done;
}

const definedIn = (given: ReturnType<typeof imports.givenBy>): ReturnType<typeof imports.givenBy> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

/** Where the list is. Throws UsageError for options that name no place. */
async function addressOf(io: Io, given: AddOptions): Promise<Address> {
  const { preset, account, url, secretFile } = given;
  if (preset === undefined && url === undefined) {
    throw new UsageError("A list needs --preset or --url.", "rehome sources add --help");
  }
  if (url !== undefined && !URL.canParse(url)) {
    throw new UsageError("--url is no address.", "Name one such as https://example.org/list.csv.");
  }
  if (preset !== undefined && account === undefined) {
    throw new UsageError(`--preset ${preset} needs --account.`, "Name the account of the shelter.");
  }
  return { preset, account, url, secret: await secretOf(io, secretFile) };
}

/** The credential in a file, or on standard input, without the end of its line. */
async function secretOf(io: Io, file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const secret = new TextDecoder().decode(await imports.bytesOf(io, file)).trim();
  if (secret !== "" && /^[\x21-\x7E]+$/.test(secret)) return secret;
  throw new UsageError(`${file} must have the credential on one line.`, "Write it there, alone.");
}

const at = (ms: number | null) => (ms === null ? null : isoSeconds(ms));
const { text, count, time, orNull } = json;

const of = fieldOf<[list: lists.Followed]>();
const fields = declared({
  name: of(text("name of the list, and source of its animals"), ({ source }) => source.name),
  state: of(json.oneOf(lists.sourceStates, "how it is"), lists.stateOf),
  preset: of(orNull(text("program whose list it is")), ({ source }) => source.preset),
  account: of(orNull(text("account there")), ({ source }) => source.account),
  url: of(orNull(text("address; null for the program's own")), ({ source }) => source.url),
  everySeconds: of(count("interval"), ({ job }) => job.everyMs / 1_000),
  complete: of(json.flag("true if what it lacks is withdrawn"), ({ source }) => !!source.complete),
  nextAt: of(orNull(time("when it is next due; null while it is paused")), ({ job }) =>
    job.paused === null ? at(job.nextAtMs) : null,
  ),
  triedAt: of(orNull(time("when it was last tried")), ({ job }) => at(job.triedAtMs)),
  succeededAt: of(orNull(time("when it last succeeded")), ({ job }) => at(job.succeededAtMs)),
  failures: of(count("failures in a row"), ({ job }) => job.failures),
  problem: of(
    orNull(text("what went wrong, or waits for a person")),
    ({ job }) => job.problem?.text ?? null,
  ),
  paused: of(orNull(text("who paused it: person, undo or restore")), ({ job }) => job.paused),
  waiting: of(count("animals whose status is a word that nobody explained"), ({ source }) =>
    lists.animalsOf(lists.waitingWords(source)),
  ),
  words: of(
    json.list(json.object({ word: text("such a word"), animals: count("how many have it") })),
    ({ source }) => lists.waitingWords(source),
  ),
  held: of(count("withdrawals that wait for a person"), ({ source }) => source.held?.length ?? 0),
});
const sourceSchema = json.object(fields.schemas);

const list = storeCommand<object>({
  name: "list",
  about: "show the lists that are followed",
  examples: ["rehome sources list", "rehome sources list --json"],
  json: json.list(sourceSchema),
  async run(io, { store }, given) {
    const all = (await store.db.read((tx) => lists.followed(tx))).map((each) => fields.make(each));
    if (given.json) return printJson(io, all);
    if (all.length === 0) return io.err("No list is followed. rehome sources add --help\n");
    const rows = all.map(({ name, state, succeededAt, nextAt, problem, waiting, words }) => {
      const waits = waiting === 0 ? "" : `${waiting}: ${lists.quoted(words)}`;
      return [name, state, succeededAt ?? "never", nextAt ?? "-", waits, problem ?? ""];
    });
    const last = [flexible("WAITING FOR A WORD"), flexible("PROBLEM")];
    printTable(io, ["NAME", "STATE", "LAST SUCCESS", "NEXT", ...last], rows);
  },
});

const ofOneList = <Options>({
  run,
  ...form
}: Omit<StoreCommand<Options, [string]>, "run"> & {
  run(io: Io, list: lists.Followed, services: Services, given: Given<Options>): Promise<void>;
}) =>
  storeCommand<Options, [string]>({
    ...form,
    arguments: [nameArgument()],
    run: async (io, services, given, name) =>
      run(io, await services.store.db.read((tx) => lists.findFollowed(tx, name)), services, given),
  });

const show = ofOneList<object>({
  name: "show",
  about: "show a followed list, how it is read, and what its last pull did",
  examples: ["rehome sources show north"],
  json: sourceSchema,
  async run(io, list, _services, given) {
    const told = fields.make(list);
    if (given.json) return printJson(io, told);
    const { reading, report, secret } = list.source;
    const { columns, format, category, statuses } = reading as Reading;
    const pairs = (map: object) =>
      Object.entries(map)
        .map((pair) => pair.join(" = "))
        .join(", ");
    const facts = {
      List: told.url ?? `${told.preset}, account ${told.account}`,
      // A backup that was restored may lack it.
      Credential: secret ? "stored" : "none",
      State: told.problem === null ? told.state : `${told.state}: ${told.problem}`,
      "Last success": told.succeededAt ?? "never",
      Next: told.nextAt ?? `none: ${told.paused} paused it`,
      Every: durationText(list.job.everyMs),
      Whole: told.complete ? "yes: what it lacks is withdrawn" : "no: nobody is withdrawn",
      "Read as": columns === undefined ? format : pairs(columns),
      Category: category,
      Words: pairs(statuses),
    };
    for (const [title, value] of Object.entries(facts)) {
      if (value) io.out(`${title.padEnd(13)}${printable(value)}\n`);
    }
    const { text } = (report ?? {}) as lists.Report;
    if (text !== undefined) io.out(`\n${text}`);
  },
});

interface SetOptions extends imports.Maybe<"complete" | "notComplete", true> {
  readonly status?: readonly string[];
  readonly every?: number;
}

const set = ofOneList<SetOptions>({
  name: "set",
  about: "change how a list is followed: what its words mean, how often, whether it is whole",
  options: [
    ...imports.readingOptions().filter(({ long }) => long === "--status"),
    everyOption(),
    new Option("--complete", "withdraw what the list does not have"),
    new Option("--not-complete", "withdraw nobody that the list lacks").conflicts("complete"),
  ],
  remark: "sources list names the words that wait. The next pull follows within a minute.",
  examples: [
    "rehome sources set north --status 'Kitten Korner=available,Stray=gone'",
    "rehome sources set north --every 6h --not-complete",
  ],
  async run(io, list, { store, clock }, { status = [], every, complete, notComplete }) {
    const { name } = list.source;
    const statuses = parseStatusWords(status);
    const isComplete = notComplete ? false : complete;
    if (statuses.size === 0 && every === undefined && isComplete === undefined) {
      throw new UsageError("There is nothing to set.", "rehome sources set --help");
    }
    const changes = isComplete === undefined ? {} : { complete: Number(isComplete) };
    const source = await store.db.transaction((tx) =>
      lists.setSource(tx, name, statuses, clock(), changes, { everyMs: every ?? list.job.everyMs }),
    );
    const open = lists.quoted(lists.waitingWords(source));
    const waits = open === "" ? "" : ` Still waiting: ${open}.`;
    io.out(`Changed ${name}.${waits}\n`);
  },
});

const pullCommand = ofOneList<imports.Maybe<"yes" | "scheduled" | "listWins", true>>({
  name: "pull",
  about: "fetch a list now; or withdraw what waits for a person, with --yes",
  options: [
    yesOption("withdraw the animals that were held, and fetch nothing"),
    new Option("--list-wins", "take what the list says of animals that people changed, too"),
    // For the service: what went wrong is on the schedule, and no failure of the command.
    new Option("--scheduled").hideHelp(),
  ],
  examples: ["rehome sources pull north", "rehome sources pull north --yes"],
  async run(io, list, services, { yes, scheduled, listWins, loaded }) {
    const { name } = list.source;
    if (yes !== true) {
      const how = { isScheduled: scheduled === true, listWins: listWins === true };
      const result = await lists.pull(lists.pullingOf(services, loaded), name, how);
      if (scheduled === true) return;
      if (result instanceof Error) throw new Error(`${name}: ${result.message}`);
      if (result !== "unchanged") return io.out(result.text);
      const isUndone = list.job.paused === "undo";
      const again = isUndone ? ` Its import was undone: rehome sources resume ${name}` : "";
      return io.out(`${name} has not changed.${again}\n`);
    }
    const { clock, actor, store } = services;
    const withdrawn = await lists.withdrawHeld({ db: store.db, clock, actor }, name);
    if (withdrawn === undefined) throw new Error(`No withdrawal of ${name} waits for a person.`);
    io.out(`Withdrew ${counted(withdrawn, "animal")}.\n`);
  },
});

const pause = ofOneList<object>({
  name: "pause",
  about: "stop following a list for a while",
  examples: ["rehome sources pause north"],
  async run(io, { source: { name }, job }, { store }) {
    await store.db.transaction((tx) => setJob(tx, job.name, { paused: "person" }));
    io.out(`Paused ${name}. Go on: rehome sources resume ${name}\n`);
  },
});

const resume = ofOneList<imports.Maybe<"secretFile", string>>({
  name: "resume",
  about: "follow a paused list again; it is pulled within a minute",
  options: [new Option("--secret-file <file>", "file with a new credential; - for standard input")],
  examples: ["rehome sources resume north", "rehome sources resume north --secret-file key.txt"],
  async run(io, { source }, { store, clock }, given) {
    const { name } = source;
    const secret = await secretOf(io, given.secretFile);
    if (secret === undefined && source.secret === "") {
      const why = `The backup that was restored lacks the credential of ${name}.`;
      throw new UsageError(why, `rehome sources resume ${name} --secret-file FILE`);
    }
    const going = { paused: null, failures: 0 };
    await store.db.transaction((tx) =>
      lists.setSource(tx, name, new Map(), clock(), { secret }, going),
    );
    io.out(`Resumed ${name}.\n`);
  },
});

const remove = ofOneList<imports.Maybe<"yes", true>>({
  name: "remove",
  about: "stop following a list; its animals stay",
  options: [yesOption("do not ask")],
  examples: ["rehome sources remove north"],
  async run(io, { source: { name } }, { store }, given) {
    await confirm(io, `Stop following ${name}? Its animals stay.`, {
      yes: given.yes === true,
      unattended: "refuse",
      why: "Its address and credential are deleted",
    });
    await lists.unfollow(store.db, name);
    io.out(`Removed ${name}. Its animals stay.\n`);
  },
});
