/**
 * A disk whose n-th write or sync fails, once or for good, for each n: what was acknowledged is
 * there afterwards, and nothing is half done.
 */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, writeFileSync, closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { callerOf } from "../../test/helpers/ask.ts";
import { makeKey, perDay, rehome, serve, temporaryFolder } from "../../test/helpers/binary.ts";

const source = join(import.meta.dir, "../../test/fixtures/io-errors/io-errors.c");

/** A failing disk whose files lie in `folder`. It needs a compiler of C. */
function ioErrorsIn(folder: string) {
  const [library, file] = [join(folder, "io-errors.so"), join(folder, "io-errors")];
  const command = ["gcc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"];
  const { exitCode, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(stderr.toString());
  const set = (...numbers: readonly number[]) => {
    // Programs have it mapped: it is changed in its place.
    const opened = openSync(file, "r+");
    writeSync(opened, Int32Array.from(numbers));
    closeSync(opened);
  };
  writeFileSync(file, new Int32Array(3));
  return {
    /** What a program whose disk fails needs. */
    env: { LD_PRELOAD: library, IO_ERRORS: file },
    /** Lets the `at`-th call from now on fail, and all after it if it is for good. */
    failAt: (at: number, { forGood } = { forGood: false }) => set(at, forGood ? 1 : 0, 0),
    /** Ends it. Returns how many calls failed since `failAt`. */
    heal() {
      const { buffer } = Uint8Array.from(readFileSync(file));
      set(0, 0, 0);
      return new Int32Array(buffer)[2] ?? 0;
    },
  };
}

/** A create takes some six calls, and a start some twenty: more than any round needs. */
const callsMax = 60;
const kinds = [{ forGood: false }, { forGood: true }];

interface Animal {
  readonly id: number;
  readonly name: string;
}

/** The animals of a folder by their ids. */
function stored(data: string): Map<number, string> {
  using db = new Database(join(data, "rehome.db"));
  const rows = db.query<Animal, []>("SELECT id, name FROM pets ORDER BY id").all();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

test.each(kinds)("a create that was answered with 201 is kept, %j", async ({ forGood }) => {
  using folder = temporaryFolder();
  const data = join(folder.path, "data");
  const { key } = await makeKey(data);
  const disk = ioErrorsIn(folder.path);
  const server = await serve(data, [], { env: disk.env });
  const acknowledged = new Map<number, string>();
  const statuses = new Set<number>();
  let failed = 0;
  const add = async (name: string) => {
    const response = await callerOf(server, key).create(name);
    statuses.add(response.status);
    const text = await response.text();
    if (response.status === 201) acknowledged.set((JSON.parse(text) as Animal).id, name);
  };
  for (let at = 1; at <= callsMax / 2; at += 1) {
    disk.failAt(at, { forGood });
    for (let turn = 0; turn < 2; turn += 1) {
      await Promise.all([0, 1, 2, 3].map((each) => add(`animal ${at} ${turn} ${each}`)));
    }
    failed += disk.heal();
    // The disk is well again, and so is the service.
    await add(`after ${at}`);
  }
  expect(failed).toBeGreaterThan(5);
  expect(statuses).toEqual(new Set([201, 503]));
  // Killed with what the failures left behind.
  await server.stop("SIGKILL");
  const kept = stored(data);
  for (const [id, name] of acknowledged) expect([id, kept.get(id)]).toEqual([id, name]);
  expect(acknowledged.size).toBeGreaterThan(callsMax / 2);
});

test.each(kinds)("a key is admitted no more than its limit, %j", async ({ forGood }) => {
  using folder = temporaryFolder();
  const data = join(folder.path, "data");
  // Two requests are taken ahead, so that the counters are written often.
  const { key } = await makeKey(data, ...perDay(100));
  const disk = ioErrorsIn(folder.path);
  let admitted = 0;
  let failed = 0;
  for (let life = 0; life < 3; life += 1) {
    const server = await serve(data, [], { env: disk.env });
    for (let at = 1; at <= 20; at += 1) {
      // Four requests make a few calls: a single failure has to be one of them.
      disk.failAt(forGood ? at : 1 + (at % 4), { forGood });
      const asked = Array.from({ length: 4 }, () => callerOf(server, key).get());
      for (const { status } of await Promise.all(asked)) {
        if (status === 200) admitted += 1;
        else expect([429, 503]).toContain(status);
      }
      failed += disk.heal();
    }
    await server.stop(life === 1 ? "SIGKILL" : "SIGTERM");
  }
  expect(failed).toBeGreaterThan(5);
  expect(admitted).toBeLessThanOrEqual(100);
  expect(admitted).toBeGreaterThan(10);
});

test("an import is done whole or not at all", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "data");
  await makeKey(data);
  const disk = ioErrorsIn(folder.path);
  const list = join(folder.path, "list.csv");
  let [done, undone] = [0, 0];
  let before = stored(data);
  for (let at = 1; at <= callsMax; at += 3) {
    const rows = Array.from({ length: 300 }, (_, i) => `${i},Animal ${i} of ${at},Dog,available`);
    writeFileSync(list, `id,name,category,status\n${rows.join("\n")}\n`);
    disk.failAt(at);
    const map = "name=name,categoryId=category,status=status,externalId=id";
    const args = ["--map", map, "--source", "test", "--create-categories", "--yes"];
    const command = ["pets", "import", list, ...args, "--data", data];
    const { exitCode, stderr } = await rehome(command, { env: disk.env });
    disk.heal();
    const after = stored(data);
    if (exitCode === 0) {
      done += 1;
      expect([...after.values()]).toEqual(rows.map((_, i) => `Animal ${i} of ${at}`));
    } else {
      undone += 1;
      expect(stderr).toStartWith("Error: ");
      // The commit may have been whole although its end failed; a part of it may not.
      const whole = [...after.values()].every((name) => name.endsWith(` of ${at}`));
      if (after.size !== 300 || !whole) expect(after).toEqual(before);
    }
    before = after;
  }
  expect(undone).toBeGreaterThan(3);
  expect(done + undone).toBe(callsMax / 3);
});

test("a backup is whole or not there", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "data");
  await makeKey(data);
  const disk = ioErrorsIn(folder.path);
  let failed = 0;
  for (let at = 1; at <= callsMax; at += 2) {
    const file = join(folder.path, `backup-${at}.db`);
    disk.failAt(at);
    const { exitCode, stderr } = await rehome(["backup", file, "--data", data], {
      env: disk.env,
    });
    disk.heal();
    if (exitCode === 0) {
      expect((await rehome(["backup", "verify", file])).exitCode).toBe(0);
      continue;
    }
    failed += 1;
    expect(stderr).toStartWith("Error: ");
    expect(existsSync(file)).toBeFalse();
  }
  expect(failed).toBeGreaterThan(3);
});
