import { Command, Option } from "commander";
import { type Io, jsonDocument, printJson, writeSecret } from "../../cli/io.ts";
import { addJson, json } from "../../cli/json.ts";
import { randomBytes, withServices } from "../../cli/open.ts";
import type { LoadedConfig } from "../../config.ts";
import { beginOnStore, commandHere } from "../../cli/command.ts";
import { addSettings, storeSettings } from "../../cli/options.ts";
import { confirm } from "../../cli/terminal/confirm.ts";
import { printTable } from "../../cli/terminal/table.ts";
import { printable } from "../../cli/terminal/text.ts";
import { yesOption } from "../../cli/options.ts";
import { isoSeconds } from "../../domain/clock.ts";
import type { Services } from "../../service/services.ts";
import { type PersonRole, personRoles } from "../../storage/schema-values.ts";
import { PeopleService, type ListedPerson, type Person } from "./people.ts";
import { invitationMs, type Secret } from "./secrets.ts";
import { reachableOrigin } from "./reach.ts";
import { consoleUrlSetting, defaultAddress } from "./settings.ts";

/** Where a console is that was never started and not configured: what the documentation names. */
const usualUrl = `http://${defaultAddress}`;

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

/** `rehome people`: who may use the staff's console. */
export function peopleCommand(io: Io): Command {
  const command = new Command("people")
    .description("invite, list and remove the people who may use the console")
    .addHelpText(
      "after",
      `
Examples:
  rehome people invite "Ana" --role staff
  rehome people list
  rehome people link "Ana"
  rehome people remove "Ana"`,
    );
  command.addCommand(inviteCommand(io));
  command.addCommand(linkCommand(io));
  command.addCommand(listCommand(io));
  command.addCommand(removeCommand(io));
  return command;
}

function inviteCommand(io: Io): Command {
  const command = new Command("invite")
    .description("invite a person: print a link to the console that works once, within 7 days")
    .argument("<name>", "name, as the histories of animals and keys show it")
    .addOption(
      new Option("--role <role>", "what the person may see and do")
        .choices([...personRoles])
        .default("staff"),
    )
    .addHelpText(
      "after",
      `
Examples:
  rehome people invite "Ana" --role staff
  rehome people invite "Ben" --role operator --json | jq -r .url`,
    );
  addJson(addSettings(command, storeSettings), invitationSchema);
  return command.action(async (name: string, options: { role: PersonRole; json?: true }) => {
    await withPeople(command, io, true, async (people, url) => {
      const { person, token } = await people.invite(name, options.role, io.actor);
      await printLink(io, person, linkAt(url, token), options.json === true, people);
    });
  });
}

function linkCommand(io: Io): Command {
  const command = new Command("link")
    .description("print another link for a person, which ends the unused ones")
    .argument("<person>", "id or name")
    .addHelpText("after", `\nExample:\n  rehome people link "Ana"`);
  addJson(addSettings(command, storeSettings), invitationSchema);
  return command.action(async (reference: string, options: { json?: true }) => {
    await withPeople(command, io, false, async (people, url) => {
      const person = await people.resolve(reference);
      const link = linkAt(url, await people.link(person.id));
      await printLink(io, person, link, options.json === true, people);
    });
  });
}

function listCommand(io: Io): Command {
  const command = new Command("list")
    .description("show who may use the console, and the last visit of each")
    .addHelpText("after", "\nExample:\n  rehome people list --json | jq -r '.[].name'");
  addJson(addSettings(command, storeSettings), json.list(personSchema));
  return command.action(async (options: { json?: true }) => {
    await withPeople(command, io, false, async (people, _url, loaded) => {
      const all = await people.list();
      if (options.json) return printJson(io, all.map(personJson));
      if (all.length === 0) {
        const invite = commandHere("rehome people invite NAME", loaded, io);
        io.err(`Nobody may use the console. Invite somebody: ${invite}\n`);
        return;
      }
      printTable(
        io,
        [
          { title: "ID" },
          { title: "NAME", flexible: true },
          "ROLE",
          "LAST SEEN",
          { title: "LINK GOOD UNTIL", optional: true },
        ],
        all.map(({ id, name, role, seenAtMs, invitedUntilMs }) => [
          id,
          name,
          role,
          seenAtMs === undefined ? "never" : isoSeconds(seenAtMs).slice(0, 10),
          invitedUntilMs === undefined ? "" : isoSeconds(invitedUntilMs),
        ]),
      );
    });
  });
}

function removeCommand(io: Io): Command {
  const command = new Command("remove")
    .description("remove a person, and end all their sessions and links at once")
    .argument("<person>", "id or name")
    .addOption(yesOption("do not ask"))
    .addHelpText("after", `\nExample:\n  rehome people remove "Ana" --yes`);
  addJson(addSettings(command, storeSettings), personSchema);
  return command.action(async (reference: string, options: { json?: true; yes?: true }) => {
    await withPeople(command, io, false, async (people) => {
      const person = await people.resolve(reference);
      await confirm(io, `Remove ${person.id} "${printable(person.name)}"?`, {
        yes: options.yes === true,
        unattended: "proceed",
      });
      await people.remove(person.id);
      if (options.json) printJson(io, personJson(person));
      else
        io.out(`${person.id} "${printable(person.name)}" is removed, and signed out everywhere.\n`);
    });
  });
}

function personJson({ id, name, role, createdAtMs, seenAtMs, invitedUntilMs }: ListedPerson) {
  return {
    id,
    name,
    role,
    createdAt: isoSeconds(createdAtMs),
    lastSeenAt: seenAtMs === undefined ? null : isoSeconds(seenAtMs),
    invitedUntil: invitedUntilMs === undefined ? null : isoSeconds(invitedUntilMs),
  };
}

async function withPeople(
  command: Command,
  io: Io,
  begins: boolean,
  work: (people: PeopleService, url: string, loaded: LoadedConfig) => Promise<void>,
): Promise<void> {
  const loaded = beginOnStore(command, io);
  await withServices(
    loaded.config,
    io,
    async (services: Services) => {
      const people = new PeopleService(services.store.db, services.clock, randomBytes);
      const noted = await people.address();
      const url = loaded.valueOf(consoleUrlSetting) ?? (noted && reachableOrigin(noted));
      if (url === undefined && command.name() !== "list" && command.name() !== "remove") {
        const start = commandHere("rehome serve --console ${defaultAddress}", loaded, io);
        io.err(
          `No console was started on this store yet; the link is for ${usualUrl}. Start it: ${start}\n`,
        );
      }
      await work(people, url ?? usualUrl, loaded);
    },
    { begins },
  );
}

const linkAt = (url: string, token: Secret) => `${url}/join/${token}`;

async function printLink(
  io: Io,
  { id, name, role }: Person,
  url: string,
  asJson: boolean,
  people: PeopleService,
): Promise<void> {
  const expiresAtMs = people.now() + invitationMs;
  const ifLost = `rehome people link ${id}`;
  if (asJson) {
    const invitation = { id, name, role, url, expiresAt: isoSeconds(expiresAtMs) };
    return writeSecret(io, jsonDocument(invitation), ifLost);
  }
  io.err(
    `A link for "${printable(name)}" (${role}), which works once, until ${isoSeconds(expiresAtMs)}:\n`,
  );
  await writeSecret(io, `${url}\n`, ifLost);
  if (!io.isTerminal) return;
  const { renderUnicodeCompact } = await import("uqr");
  io.err(`\n${renderUnicodeCompact(url, { border: 2 })}\n`);
}
