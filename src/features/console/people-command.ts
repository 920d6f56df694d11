import { Argument, type Command, Option } from "commander";
import { commandHere } from "../../cli/command.ts";
import { commandGroup, type Given, storeCommand } from "../command.ts";
import { type Io, writeSecret } from "../../cli/io.ts";
import { json, jsonDocument, printJson } from "../json.ts";
import { randomBytes } from "../../cli/open.ts";
import { yesOption } from "../options.ts";
import { confirm } from "../confirm.ts";
import { flexible, optional, printTable } from "../table.ts";
import { printable } from "../../cli/terminal/text.ts";
import type { LoadedConfig } from "../../config.ts";
import { isoSeconds } from "../../domain/clock.ts";
import type { Services } from "../../service/services.ts";
import { personRoles } from "../../storage/schema.ts";
import { invitationMs, PeopleService } from "./people.ts";
import type { ListedPerson, Person, PersonRole, Secret } from "./people.ts";
import { isHere, reachableOrigin } from "./reach.ts";
import { consoleUrlSetting, defaultAddress } from "./index.ts";

const personFields = {
  id: json.text("id of the person"),
  name: json.text("name"),
  role: json.oneOf(personRoles, "staff see animals, import and categories; operators see all"),
};
const invitationSchema = json.object({
  ...personFields,
  url: json.text("link to open; it works once"),
  expiresAt: json.time("end of the link"),
});
const personSchema = json.object({
  ...personFields,
  createdAt: json.time("first invitation of the person"),
  lastSeenAt: json.orNull(json.time("last visit to the console, to the day")),
  invitedUntil: json.orNull(json.time("end of an unused link")),
});

const person = new Argument("<person>", "id or name");

export function peopleCommand(io: Io): Command {
  const form = {
    name: "people",
    about: "invite, list and remove the people who may use the console",
    examples: [
      'rehome people invite "Ana" --role staff',
      "rehome people list",
      'rehome people link "Ana"',
      'rehome people remove "Ana"',
    ],
  };
  return commandGroup(io, form, [inviteCommand, linkCommand, listCommand, removeCommand]);
}

const peopleOf = ({ store, clock }: Services) => new PeopleService(store.db, clock, randomBytes);

const inviteCommand = storeCommand<{ readonly role: PersonRole }, [string]>({
  name: "invite",
  about: "invite a person: print a link to the console that works once, within 7 days",
  arguments: [new Argument("<name>", "name, as the histories of animals and keys show it")],
  options: [
    new Option("--role <role>", "what the person may see and do")
      .choices([...personRoles])
      .default("staff"),
  ],
  examples: [
    'rehome people invite "Ana" --role staff',
    'rehome people invite "Ben" --role operator --json | jq -r .url',
  ],
  json: invitationSchema,
  begins: true,
  async run(io, services, { role, ...given }, name) {
    const people = peopleOf(services);
    const { person: invited, token } = await people.invite(name, role, io.actor);
    await printLink(io, people, given, invited, token);
  },
});

const linkCommand = storeCommand<object, [string]>({
  name: "link",
  about: "print another link for a person, which ends the unused ones",
  arguments: [person],
  examples: ['rehome people link "Ana"'],
  json: invitationSchema,
  async run(io, services, given, reference) {
    const people = peopleOf(services);
    const them = await people.resolve(reference);
    await printLink(io, people, given, them, await people.link(them.id));
  },
});

async function originOf(people: PeopleService, loaded: LoadedConfig, io: Io): Promise<string> {
  const noted = await people.address();
  const origin = loaded.valueOf(consoleUrlSetting) ?? (noted && reachableOrigin(noted));
  if (origin !== undefined) return origin;
  const usual = `http://${defaultAddress}`;
  const start = commandHere(`rehome serve --console ${defaultAddress}`, loaded);
  io.err(
    `No console was started on this store yet; the link is for ${usual}. Start it: ${start}\n`,
  );
  return usual;
}

async function printLink(
  io: Io,
  people: PeopleService,
  { json: asJson, loaded }: Given<object>,
  { id, name, role }: Person,
  token: Secret,
): Promise<void> {
  const origin = await originOf(people, loaded, io);
  const url = `${origin}/join/${token}`;
  const expiresAt = isoSeconds(people.now() + invitationMs);
  const ifLost = `rehome people link ${id}`;
  if (asJson) return writeSecret(io, jsonDocument({ id, name, role, url, expiresAt }), ifLost);
  io.err(`A link for "${printable(name)}" (${role}), which works once, until ${expiresAt}:\n`);
  await writeSecret(io, `${url}\n`, ifLost);
  if (isHere(new URL(origin))) {
    const what =
      "Only this machine can open it. For another device, serve the console at an address of the network";
    return io.err(
      `${what}: REHOME_CONSOLE=0.0.0.0:8090. Behind a proxy, set REHOME_CONSOLE_URL.\n`,
    );
  }
  if (!io.isTerminal) return;
  const { renderUnicodeCompact } = await import("uqr");
  io.draw(`\n${renderUnicodeCompact(url, { border: 2 })}\n`);
}

const listCommand = storeCommand<object>({
  name: "list",
  about: "show who may use the console, and the last visit of each",
  examples: ["rehome people list --json | jq -r '.[].name'"],
  json: json.list(personSchema),
  async run(io, services, given) {
    const all = await peopleOf(services).list();
    if (given.json) return printJson(io, all.map(personJson));
    if (all.length === 0) {
      const invite = commandHere("rehome people invite NAME", given.loaded);
      return io.err(`Nobody may use the console. Invite somebody: ${invite}\n`);
    }
    const columns = ["ID", flexible("NAME"), "ROLE", "LAST SEEN", optional("LINK GOOD UNTIL")];
    const rows = all.map(personJson).map(({ id, name, role, lastSeenAt, invitedUntil }) => {
      const seen = lastSeenAt?.slice(0, "2026-01-01".length) ?? "never";
      return [id, name, role, seen, invitedUntil ?? ""];
    });
    printTable(io, columns, rows);
  },
});

const removeCommand = storeCommand<{ readonly yes?: true }, [string]>({
  name: "remove",
  about: "remove a person, and end all their sessions and links at once",
  arguments: [person],
  options: [yesOption("do not ask")],
  examples: ['rehome people remove "Ana" --yes'],
  json: personSchema,
  async run(io, services, given, reference) {
    const people = peopleOf(services);
    const them = await people.resolve(reference);
    const shown = `${them.id} "${printable(them.name)}"`;
    await confirm(io, `Remove ${shown}?`, { yes: given.yes === true, unattended: "proceed" });
    await people.remove(them.id);
    if (given.json) printJson(io, personJson(them));
    else io.out(`${shown} is removed, and signed out everywhere.\n`);
  },
});

function personJson({ id, name, role, createdAtMs, seenAtMs, invitedUntilMs }: ListedPerson) {
  return {
    id,
    name,
    role,
    createdAt: isoSeconds(createdAtMs),
    lastSeenAt: seenAtMs === null ? null : isoSeconds(seenAtMs),
    invitedUntil: invitedUntilMs === null ? null : isoSeconds(invitedUntilMs),
  };
}
