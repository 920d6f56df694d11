/** What `--keep` removes: only what this store made and verified counts, and nothing else goes. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { generateIdentity, identityToRecipient } from "age-encryption";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { array, assert, integer, property } from "fast-check";
import { isoSeconds } from "../../../src/domain/clock.ts";
import { olderBackups } from "../../../src/features/operate/backup/names.ts";
import { command } from "../../helpers/command.ts";

let folder: string;
let data: string;
let place: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "rehome-keep-"));
  data = join(folder, "data");
  place = join(folder, "backups");
  mkdirSync(place);
  await key(data);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const key = (at: string) =>
  command(["keys", "create", "--plan", "free", "--name", crypto.randomUUID(), "--data", at]);

function runOn(file: string, sql: string, ...values: string[]): void {
  using db = new Database(file);
  db.run(sql, values);
}
const run = (sql: string, ...values: string[]) => runOn(join(data, "rehome.db"), sql, ...values);

interface Made {
  readonly file: string;
  readonly removed: readonly string[];
  readonly warning: string;
}

async function make(keep?: number, ...words: string[]): Promise<Made> {
  const keeping = keep === undefined ? [] : ["--keep", String(keep)];
  const all = ["backup", place, "--data", data, "--json", ...keeping, ...words];
  const { exitCode, stdout, stderr } = await command(all);
  expect([exitCode, exitCode === 0 ? "" : stderr]).toEqual([0, ""]);
  return { ...(JSON.parse(stdout) as Omit<Made, "warning">), warning: stderr };
}

/** Makes so many, of which each has the date of the day before the next. */
async function makeEarlier(count: number): Promise<string[]> {
  const files: string[] = [];
  for (let day = 1; day <= count; day += 1) {
    const { file } = await make();
    const earlier = file.replace(/\d{8}T/, `2026010${day}T`);
    renameSync(file, earlier);
    run("UPDATE store_state SET name = replace(name, ?, ?)", file, earlier);
    files.push(earlier);
  }
  return files;
}

const mark = () => /rehome-([\da-f]{8})-/.exec(readdirSync(place).join(" "))?.[1] ?? "";
const there = () => readdirSync(place).map((name) => join(place, name));
const nameAt = (second: number, ending = ".db") =>
  join(place, `rehome-${mark()}-20270101T00000${second}Z${ending}`);

/** What is put beside the backups, under the names of later ones. */
const others: Record<string, (at: string, from: string) => void> = {
  "empty files": (at) => writeFileSync(at, ""),
  "files of the size of one": (at, from) =>
    writeFileSync(at, Buffer.alloc(readFileSync(from).length, 1)),
  "halves of one": (at, from) => (cpSync(from, at), truncateSync(at, 8_192)),
  folders: (at) => mkdirSync(at),
  "links that lead nowhere": (at) => symlinkSync("/nonexistent", at),
  "backups of another store": (at, from) => {
    cpSync(from, at);
    runOn(at, "UPDATE store_state SET value = 'other' WHERE name = 'store_id'");
  },
};

test.each(Object.entries(others))(
  "%s with later names count for nothing, and stay",
  async (_, put) => {
    const made = await makeEarlier(5);
    for (let second = 1; second <= 6; second += 1) put(nameAt(second), made[0] ?? "");
    for (let round = 1; round <= 2; round += 1) {
      const { removed, warning } = await make(5 + round);
      expect([removed, warning]).toEqual([[], ""]);
    }
    expect(there()).toHaveLength(5 + 6 + 2);
  },
);

test.each<[string, (file: string) => void]>([
  ["another size", (file) => writeFileSync(file, "")],
  [
    "other bytes",
    (file) => {
      const bytes = readFileSync(file);
      bytes[bytes.length - 1] = 1 + (bytes.at(-1) ?? 0);
      writeFileSync(file, bytes);
    },
  ],
])("one that has %s now counts no more, is told and stays", async (_, change) => {
  const made = await makeEarlier(3);
  change(made[2] ?? "");
  const kept = await make(3);
  const next = await make(2);
  expect(kept.removed).toEqual([]);
  expect(next.removed).toEqual(made.slice(0, 2));
  expect(next.warning).toContain(`${made[2]} is not as it was made`);
  expect(there()).toContain(made[2] ?? "");
});

test("those that the list does not have are adopted once they verify", async () => {
  const made = await makeEarlier(3);
  run("DELETE FROM store_state WHERE name LIKE 'made %'");
  expect((await make(2)).removed).toEqual(made.slice(0, 2));
});

test("what is encrypted and not on the list cannot be verified here, and stays", async () => {
  const recipient = await identityToRecipient(await generateIdentity());
  const encrypted = ["--backup-recipient", recipient];
  const { file } = await make(1, ...encrypted);
  run("DELETE FROM store_state WHERE name LIKE 'made %'");
  const next = await make(1, ...encrypted);
  expect(next.removed).toEqual([]);
  expect((await make(1, ...encrypted)).removed).toEqual([next.file]);
  expect(there()).toContain(file);
});

test("what a killed backup or restore left goes after a day, and nothing else does", async () => {
  const left = ["", ".partial", ".partial-journal", "-journal"].map(
    (ending) => `rehome-1a2b3c4d-20260101T000000Z.db.partial${ending}`,
  );
  const others = ["film.partial", "rehome-1a2b3c4d-20260101T000000Z.db-journal", "rehome.partial"];
  const restoring = ["rehome.db.restoring-journal", "limits.db.before-0001_x.99.partial"];
  const young = "rehome-1a2b3c4d-20260102T000000Z.db.partial";
  for (const at of [place, data]) {
    for (const name of [...left, ...others, young]) writeFileSync(join(at, name), "");
    for (const name of [...left, ...others]) utimesSync(join(at, name), 0, 0);
  }
  for (const name of restoring) {
    writeFileSync(join(data, name), "");
    utimesSync(join(data, name), 0, 0);
  }
  const named = ["backup", join(place, "named.db"), "--data", data];
  expect(await command(named)).toMatchObject({ exitCode: 0, stderr: "" });
  expect(readdirSync(place).toSorted()).toEqual([...others, young, "named.db"].toSorted());
  const besides = ["rehome.db", "limits.db"];
  expect(readdirSync(data).toSorted()).toEqual([...others, young, ...besides].toSorted());
});

const nameOf = (time: number, store = "0000000a") =>
  `rehome-${store}-${isoSeconds(time).replaceAll(/[-:]/g, "")}.db`;
const times = array(integer({ min: 0, max: 2_000_000_000 }), { minLength: 1, maxLength: 20 });

test("what goes is the oldest of the same store, and never the new one, whatever the clock did", () => {
  assert(
    property(times, integer({ min: 1, max: 9 }), (seconds, keep) => {
      const own = [...new Set(seconds.map((each) => nameOf(each * 1000)))];
      const newest = own.at(-1) ?? "";
      const others = ["rehome.db", nameOf(0, "0000000b"), "rehome-20200101T000000Z.db"];
      const removed = olderBackups([...others, ...own], keep, newest);
      expect(removed).toHaveLength(Math.max(0, own.length - keep));
      expect(own).toEqual(expect.arrayContaining(removed));
      expect(removed).not.toContain(newest);
      // What the clock dated later than the new one was made while it was wrong: it goes first.
      const age = (name: string) => (name > newest ? "0" : "1") + name;
      const left = own.filter((name) => !removed.includes(name));
      const oldestLeft = left.map(age).toSorted()[0] ?? "";
      expect(removed.every((name) => age(name) < oldestLeft)).toBe(true);
    }),
  );
});
