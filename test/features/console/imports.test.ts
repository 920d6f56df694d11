/** The files that people bring to the console, while they are read. */
import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { workOnList } from "../../../src/features/console/import-work.ts";
import { PeopleService } from "../../../src/features/console/people.ts";
import { Imports, removeLeft, type StartWork } from "../../../src/features/console/imports.ts";
import { minuteMs } from "../../../src/domain/clock.ts";
import type { Services } from "../../../src/service/services.ts";
import { temporaryFolder } from "../../helpers/binary.ts";
import { hookTimeoutMs } from "../../helpers/postgres.ts";
import { servicesOn } from "../../helpers/services.ts";
import { openForEach } from "../../helpers/stores.ts";

let folder: ReturnType<typeof temporaryFolder>;
let services: Services;
let imports: Imports;
let nowMs: number;

openForEach((store) => {
  folder = temporaryFolder();
  services = servicesOn(store);
  nowMs = Date.now();
  imports = new Imports(folder.path, start, () => nowMs);
  return async () => {
    await imports.close();
    await services.close();
    folder[Symbol.dispose]();
  };
});

/** Works on a list in this process, unless it is stopped before. */
const start: StartWork = (work) => {
  const stopped = Promise.withResolvers<"stopped">();
  const ended = { is: "failed", failure: { code: "importEnded" } } as const;
  return {
    outcome: Promise.race([
      workOnList(services, work, () => undefined),
      stopped.promise.then(() => ended),
    ]),
    hasBegun: () => false,
    stop: async () => stopped.resolve("stopped"),
  };
};
const kept = () => readdirSync(folder.path);
const list = "name,categoryId,status\nRex,1,sold\n";
const bring = (name: string, text = list, person = "per_1") =>
  imports.take(person, async () => ({ name, bytes: new TextEncoder().encode(text) }));

test("an import that changes nothing offers no undo: that would be of an earlier one", async () => {
  const dogs = "Animal ID,Animal Name,Record Type,Animal Type\nK1,Rex,ADOPTABLE,Dog\n";
  for (const change of [1n, undefined]) {
    const job = await bring("list.csv", dogs);
    await job?.settled(hookTimeoutMs);
    job?.run("Ana");
    await job?.settled(hookTimeoutMs);
    expect(job?.state).toMatchObject({ is: "done", summary: { change } });
  }
});

test("an import of a person who was removed before it began changes nothing", async () => {
  const job = await bring(
    "list.csv",
    "Animal ID,Animal Name,Record Type,Animal Type\nK1,Rex,ADOPTABLE,Dog\n",
  );
  await job?.settled(hookTimeoutMs);
  const people = new PeopleService(services.store.db, () => nowMs, randomBytes);
  const { person } = await people.invite("Rita", "staff", "tester");
  await people.remove(person.id);
  job?.run("Rita");
  await job?.settled(hookTimeoutMs);
  expect(job?.state).toMatchObject({ is: "failed" });
  expect(await services.store.db.read((tx) => tx.select().from(tx.t.pets))).toEqual([]);
});

test("a person has one file, which nobody else can read, and none that did not come", async () => {
  await bring("first.csv");
  const [first = ""] = kept();
  expect(statSync(join(folder.path, first)).mode & 0o777).toBe(0o700);
  const second = await bring("second.csv");
  expect(kept()).toHaveLength(1);
  expect(kept()).not.toContain(first);
  expect(await bring("", "")).toBeUndefined();
  const lost = imports.take("per_1", async () => {
    throw new Error("the line is cut");
  });
  expect(await lost.catch(String)).toContain("the line is cut");
  expect([kept().length, imports.job("per_1") === second]).toEqual([1, true]);
  const ends = Promise.withResolvers<{ name: string; bytes: Uint8Array }>();
  const slow = imports.take("per_1", () => ends.promise);
  expect(await bring("third.csv").catch(String)).toContain("still uploading");
  ends.resolve({ name: "", bytes: new Uint8Array() });
  expect(await slow).toBeUndefined();
  expect((await bring("empty.csv", ""))?.name).toBe("empty.csv");
  await imports.close();
  expect(kept()).toEqual([]);
});

test("four people have a file at a time; one that is over makes room, and else the oldest", async () => {
  const ends = Promise.withResolvers<{ name: string; bytes: Uint8Array }>();
  const arriving = ["per_1", "per_2", "per_3", "per_4"].map((person) =>
    imports.take(person, () => ends.promise),
  );
  const refused = bring("a.csv", list, "per_5").catch((error: unknown) => error);
  expect(await refused).toMatchObject({ code: "uploadsFull" });
  ends.resolve({ name: "", bytes: new Uint8Array() });
  await Promise.all(arriving);
  for (const person of ["per_1", "per_2", "per_3", "per_4"]) {
    const job = await bring("a.csv", person === "per_2" ? "{" : list, person);
    await job?.settled(hookTimeoutMs);
  }
  for (const [person, left] of [
    ["per_5", ["per_1", "per_3", "per_4", "per_5"]],
    ["per_6", ["per_3", "per_4", "per_5", "per_6"]],
  ] as const) {
    await (await bring("a.csv", list, person))?.settled(hookTimeoutMs);
    expect([...imports.people]).toEqual([...left]);
  }
});

test("a file stays for an hour, and as long as its person does", async () => {
  for (const person of ["per_1", "per_2"]) await bring("a.csv", list, person);
  await imports.tidy(new Set(["per_1"]));
  expect([...imports.people]).toEqual(["per_1"]);
  nowMs += 60 * minuteMs - 1;
  await imports.tidy(new Set(["per_1"]));
  expect(kept()).toHaveLength(1);
  nowMs += 1;
  await imports.tidy(new Set(["per_1"]));
  expect(kept()).toEqual([]);
});

test("a file on its way ends with its person", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const arriving = imports.take("per_1", async () => {
    await promise;
    return { name: "a.csv", bytes: new TextEncoder().encode(list) };
  });
  await imports.tidy(new Set());
  resolve();
  expect(await arriving.catch((error: unknown) => error)).toMatchObject({ code: "interrupted" });
  expect([kept(), imports.job("per_1")]).toEqual([[], undefined]);
});

test("the files of a console that was killed go at the next start, those of one that lives stay", async () => {
  await bring("mine.csv");
  const left = join(folder.path, "rehome-console-upload-left");
  mkdirSync(left);
  utimesSync(left, new Date(), new Date(nowMs - 121 * minuteMs));
  removeLeft(folder.path, nowMs);
  expect([existsSync(left), kept().length]).toEqual([false, 1]);
});
