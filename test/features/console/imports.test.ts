/** The files that people bring to the console, while they are read. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openImports } from "../../../src/features/console/import-engine.ts";
import type { ImportDesk } from "../../../src/features/console/import-desk.ts";
import { loadConfig } from "../../../src/config.ts";
import { createServices, type Services } from "../../../src/service/services.ts";
import { temporaryFolder } from "../../helpers/binary.ts";
import { hookTimeoutMs } from "../../helpers/postgres.ts";
import { stores, type StorePlace } from "../../helpers/stores.ts";

describe.each(stores)("$name", (kind) => {
  let folder: ReturnType<typeof temporaryFolder>;
  let place: StorePlace;
  let services: Services;
  let desk: ImportDesk;

  beforeEach(async () => {
    folder = temporaryFolder();
    place = await kind.place();
    services = createServices(await place.open(), {
      environment: "production",
      clock: Date.now,
      randomBytes: (count) => new Uint8Array(count),
      actor: "tester",
      anonymousPerMinute: 300,
      bans: true,
      onError: (error) => expect(error).toBeUndefined(),
    });
    const { config } = loadConfig({ data: folder.path }, {}, []);
    desk = openImports(config, services);
  }, hookTimeoutMs);
  afterEach(async () => {
    await desk.close();
    await services.close();
    await place[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  }, hookTimeoutMs);

  async function taken() {
    const rows = Array.from({ length: 50_000 }, (_, at) => `Rex ${at},1,available\n`);
    const job = await desk.take("per_1", async (path) => {
      const bytes = await Bun.write(path, `name,categoryId,status\n${rows.join("")}`);
      return { name: "dogs.csv", bytes };
    });
    if (job === undefined) throw new Error("no file");
    return job;
  }

  const uploads = () => join(folder.path, "console-uploads");
  const kept = () => readdirSync(uploads()).filter((name) => !name.endsWith(".rejects"));
  const bring = (name: string, text = "name,categoryId,status\nRex,1,sold\n") =>
    desk.take("per_1", async (path) => ({ name, bytes: await Bun.write(path, text) }));

  test("a person has one file, which nobody else can read, and none that did not come", async () => {
    expect(statSync(uploads()).mode & 0o777).toBe(0o700);
    await bring("first.csv");
    const [first = ""] = kept();
    const second = await bring("second.csv");
    expect(kept()).toHaveLength(1);
    expect(kept()).not.toContain(first);
    expect(await bring("", "")).toBeUndefined();
    const lost = desk.take("per_1", async (path) => {
      await Bun.write(path, "name");
      throw new Error("the line is cut");
    });
    expect(await lost.catch(String)).toContain("the line is cut");
    expect([kept().length, desk.job("per_1") === second]).toEqual([1, true]);
    const ends = Promise.withResolvers<{ name: string; bytes: number }>();
    const slow = desk.take("per_1", () => ends.promise);
    expect(await bring("third.csv").catch(String)).toContain("still uploading");
    ends.resolve({ name: "", bytes: 0 });
    expect(await slow).toBeUndefined();
    expect((await bring("empty.csv", ""))?.name).toBe("empty.csv");
    await desk.close();
    expect(existsSync(uploads())).toBe(false);
  });

  test("a console begins without the files of one that was killed", async () => {
    await bring("left.csv");
    const { config } = loadConfig({ data: folder.path }, {}, []);
    openImports(config, services);
    expect(readdirSync(uploads())).toEqual([]);
  });

  test("an import that changes nothing offers no undo: that would be of an earlier one", async () => {
    const list = "Animal ID,Animal Name,Record Type,Animal Type\nK1,Rex,ADOPTABLE,Dog\n";
    for (const changeId of [1n, undefined]) {
      const job = await bring("list.csv", list);
      await job?.settled(hookTimeoutMs);
      job?.run(job.choices, "Ana");
      await job?.settled(hookTimeoutMs);
      expect(job?.state).toMatchObject({ is: "done", changeId });
    }
  });

  test("beside a database, a console removes the files of dead consoles only", async () => {
    const dead = Bun.spawn(["true"]);
    await dead.exited;
    const [gone, there] = [dead.pid, process.pid].map((pid) =>
      mkdtempSync(join(tmpdir(), `rehome-console-uploads-${pid}-`)),
    );
    const { config } = loadConfig({ store: "postgres://127.0.0.1/none" }, {}, []);
    await openImports(config, services).close();
    expect([existsSync(gone ?? ""), existsSync(there ?? "")]).toEqual([false, true]);
    rmdirSync(there ?? "");
  });

  test("a file that is read keeps nobody waiting", async () => {
    const job = await taken();
    const seen = new Set<number>();
    while (job.state.is === "working") {
      seen.add(job.state.step.done);
      await new Promise((resolve) => void setImmediate(resolve));
    }
    expect(job.state).toMatchObject({ is: "examined", preview: { read: 50_000 } });
    expect(seen.size).toBeGreaterThan(2);
  });

  test("a file is not read to its end when its person is removed", async () => {
    const job = await taken();
    await desk.drop("per_1");
    expect(job.state).toMatchObject({ is: "failed" });
    expect(await Bun.file(job.file).exists()).toBe(false);
  });
});
