/** The console of this process, behind a listener: nobody waits for a program to start. */
import { randomBytes } from "../../src/cli/open.ts";
import { parseCidr } from "../../src/domain/address.ts";
import { AnimalActions } from "../../src/features/console/animals.ts";
import { consoleHandler } from "../../src/features/console/app.ts";
import { workOnList } from "../../src/features/console/import-work.ts";
import { Imports, type StartWork } from "../../src/features/console/imports.ts";
import { sourceActions } from "../../src/features/console/pages/sources.ts";
import { PeopleService } from "../../src/features/console/people.ts";
import { type Health, marksOf } from "../../src/features/console/pages/health.ts";
import type { Actions } from "../../src/features/console/visit.ts";
import { listen } from "../../src/http/server.ts";
import { temporaryFolder } from "./binary.ts";
import { Visitor } from "./console.ts";
import { open, type Shown } from "./plain-browser.ts";
import { servicesOn } from "./services.ts";
import { storeKind } from "./stores.ts";

/** What Health shows where no program is asked. */
const health: Health = {
  hasTrouble: () => false,
  findings: async () => [
    { check: "disk", state: "ok", detail: "There is room.", advice: null },
    { check: "backup", state: "fail", detail: "None is there.", advice: null },
  ],
};

/** Starts it on an empty store of a data folder. A failure of its own fails the test. */
export async function consoleHere() {
  const [place, uploads] = [await storeKind.place(), temporaryFolder()];
  const store = await place.open();
  const fail = (error: unknown) => {
    throw error;
  };
  const services = servicesOn(store);
  const people = new PeopleService(store.db, Date.now, randomBytes);
  const start: StartWork = (work) => ({
    outcome: workOnList(services, work, () => undefined),
    hasBegun: () => false,
    stop: async () => undefined,
  });
  const imports = new Imports(uploads.path, start, Date.now);
  const animals = new AnimalActions(services);
  const sources = sourceActions(services, {});
  const marks = marksOf(services, { sources, health });
  const actions: Actions = {
    services,
    people,
    animals,
    imports,
    sources,
    health,
    marks,
    clock: Date.now,
    publicPage: { url: "https://pets.example.org/animals", port: 0 },
  };
  const handler = consoleHandler({
    actions,
    names: [],
    publicOrigin: undefined,
    isTls: false,
    trustedProxies: [parseCidr("127.0.0.1")].filter((each) => each !== undefined),
    report: fail,
    refused: () => undefined,
  });
  const server = listen(handler, { host: "127.0.0.1", port: 0, reusePort: false });
  const { origin } = server.url;
  return {
    origin,
    services,
    people,
    animals,
    store,
    visitor: () => new Visitor(origin),
    /** A browser of somebody who is invited and comes in. */
    async joined(name: string, role: "staff" | "operator" = "staff"): Promise<Visitor> {
      const { token } = await people.invite(name, role, "tester");
      return new Visitor(origin).join(`${origin}/join/${token}`);
    },
    /** The start page in a browser without a script, of somebody who comes in. */
    async at(
      name: string,
      role: "staff" | "operator" = "staff",
      path = "/animals",
    ): Promise<Shown> {
      return open(await this.joined(name, role), path);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await server.stop(0);
      await imports.close();
      await services.close();
      await place[Symbol.asyncDispose]();
      uploads[Symbol.dispose]();
    },
  };
}

export type ConsoleHere = Awaited<ReturnType<typeof consoleHere>>;
