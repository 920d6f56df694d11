/** The files that people bring to the console, while they are read. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openImports } from "../../../src/annexes/console/import-engine.ts";
import type { ImportDesk } from "../../../src/annexes/console/import-desk.ts";
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
