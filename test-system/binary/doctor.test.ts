/**
 * `rehome doctor`: each kind of trouble is made, found, and told with what to do.
 */
import { X509Certificate } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { $ } from "bun";
import { Database } from "bun:sqlite";
import { checkCertificate } from "../../src/features/operate/doctor/server.ts";
import { doctorSchema } from "../../src/features/operate/doctor/command.ts";
import { loadConfig } from "../../src/config.ts";
import { executable, makeKey, rehome, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { documentedJson } from "../../test/helpers/json-contract.ts";
import { hookTimeoutMs, testDatabase, type TestDatabase } from "../../test/helpers/postgres.ts";
import { command } from "../../test/helpers/command.ts";
import { smallDisk } from "../../test/helpers/small-disk.ts";
import { until } from "../../test/helpers/until.ts";
import { rehomeAtTerminal } from "../../test/helpers/terminal.ts";
import { liveThrough } from "../../test/helpers/usage.ts";

/** A disk whose files all have one mode, as exFAT has it; undefined where it cannot be mounted. */
function openDisk(folder: string) {
  const [from, to] = ["from", "to"].map((name) => join(folder, name)) as [string, string];
  for (const each of [from, to]) mkdirSync(each);
  const command = ["bindfs", "--chmod-deny", "--perms=0777", from, to];
  if (Bun.which("bindfs") === null || !Bun.spawnSync(command).success) return undefined;
  return { path: to, [Symbol.dispose]: () => void Bun.spawnSync(["umount", "--lazy", to]) };
}

interface Report {
  readonly state: string;
  readonly checks: { check: string; state: string; detail: string; advice: string | null }[];
}

async function examined(folder: string, ...args: string[]) {
  const result = await command(["doctor", "--data", folder, "--port", "1", "--json", ...args]);
  const report = documentedJson(doctorSchema, result.stdout) as Report;
  // The exit code is for scripts, and says the same.
  expect(result.exitCode).toBe(report.state === "fail" ? 1 : 0);
  return {
    ...result,
    report,
    of: (check: string) => report.checks.find((each) => each.check === check),
  };
}

describe("the certificate of the settings", () => {
  const fixtures = join(import.meta.dir, "../../test/fixtures/tls");
  const found = async (folder: string, cert: string, key: string) => {
    const env = { REHOME_TLS_CERT: cert, REHOME_TLS_KEY: key };
    const { stdout } = await command(["doctor", "--data", folder, "--port", "1", "--json"], {
      env,
    });
    const { checks } = documentedJson(doctorSchema, stdout) as Report;
    return checks.find(({ check }) => check === "certificate");
  };

  test("is ok, about to end, ended, or nothing that a start could use", async () => {
    using folder = temporaryFolder();
    const cert = join(fixtures, "first.crt");
    const key = join(fixtures, "first.key");
    expect((await found(folder.path, cert, key))?.detail).toStartWith(`${cert}, valid until 2`);
    const gone = join(folder.path, "gone.pem");
    expect(await found(folder.path, gone, key)).toMatchObject({
      state: "fail",
      detail: `The file of --tls-cert, ${gone}, cannot be read: there is no such file`,
    });
    expect(await found(folder.path, cert, join(fixtures, "second.key"))).toMatchObject({
      state: "fail",
      detail: `${join(fixtures, "second.key")} is not the key of ${cert}`,
    });

    const { config: plain } = loadConfig({}, { HOME: folder.path }, []);
    const config = { ...plain, tlsCert: cert, tlsKey: key };
    const end = new X509Certificate(readFileSync(cert)).validToDate.getTime();
    const stateAt = (ms: number) => checkCertificate(config, ms)[0]?.state;
    const dayMs = 86_400_000;
    expect([15 * dayMs, 13 * dayMs, 0].map((ms) => stateAt(end - ms))).toEqual([
      "ok",
      "warn",
      "fail",
    ]);
    expect(checkCertificate(plain, end)).toEqual([]);
  });
});

test("a store file or TLS key that every user can read is warned of", async () => {
  using folder = temporaryFolder();
  const files = ["store", "key.pem"].map((name) => join(folder.path, name));
  const [store = "", key = ""] = files;
  for (const file of files) writeFileSync(file, "postgres://rehome:secret@127.0.0.1:1/rehome");
  const found = async (mode: number) => {
    for (const file of files) chmodSync(file, mode);
    const env = { REHOME_STORE_FILE: store, REHOME_TLS_CERT: key, REHOME_TLS_KEY: key };
    const quick = ["--port", "1", "--store-timeout", "1", "--json"];
    const { stdout } = await command(["doctor", ...quick], { env });
    const { checks } = documentedJson(doctorSchema, stdout) as Report;
    return checks.filter(({ check }) => check === "secret");
  };
  expect(await found(0o640)).toEqual([]);
  expect(await found(0o644)).toMatchObject([
    {
      state: "warn",
      detail: expect.stringContaining(`--store-file, ${store}: it belongs to `),
      advice: expect.stringContaining(`chmod 600 ${store}`),
    },
    { state: "warn", detail: expect.stringContaining(`--tls-key, ${key}`) },
  ]);
});

describe("a sound installation", () => {
  test("beside its server has no trouble but the missing backup, and none after it", async () => {
    using folder = temporaryFolder();
    await using server = await serve(folder.path);
    await makeKey(folder.path);
    const { port } = new URL(server.origin);
    const before = await examined(folder.path, "--port", port);
    expect(before.report.state).toBe("warn");
    expect(before.report.checks.filter(({ state }) => state !== "ok")).toMatchObject([
      { check: "backup", detail: "there is no backup yet" },
    ]);
    expect(before.of("server")?.detail).toBe(`answers on 127.0.0.1:${port} and is ready`);
    expect(before.of("data folder")?.detail).toBe(`${folder.path} (--data)`);

    using backups = temporaryFolder();
    const file = join(backups.path, "rehome.db");
    expect((await command(["backup", file, "--data", folder.path])).exitCode).toBe(0);
    const after = await examined(folder.path, "--port", port);
    expect(after.report.state).toBe("ok");
    expect(after.of("backup")?.detail).toEndWith(`, written to ${file}`);
  });

  test("is left byte for byte as it was", async () => {
    using folder = temporaryFolder();
    await makeKey(folder.path);
    const state = () =>
      readdirSync(folder.path).map((name) => {
        const path = join(folder.path, name);
        return [name, Bun.hash(readBytes(path)), statSync(path).mtimeMs];
      });
    const before = state();
    await examined(folder.path);
    expect(state()).toEqual(before);
  });

  test("is read by a person: a line a check, advice below, in colour", async () => {
    using folder = temporaryFolder();
    await makeKey(folder.path);
    const { exitCode, screen } = await rehomeAtTerminal(["doctor", "--port", "1"], {
      env: { REHOME_DATA: folder.path },
      columns: 200,
    });
    expect(exitCode).toBe(0);
    expect(screen).toContain(`\u001B[32mok  \u001B[39m  data folder  ${folder.path} (REHOME_DATA)`);
    expect(screen).toContain("\u001B[33mwarn\u001B[39m  backup");
    expect(screen).toContain("--backup-to");
  });
});

function readBytes(path: string): Uint8Array {
  return new Uint8Array(Bun.mmap(path));
}

describe("the data folder", () => {
  test("that does not exist yet is no failure, and is not made", async () => {
    using folder = temporaryFolder();
    const missing = join(folder.path, "none");
    const { report, of } = await examined(missing);
    expect(report.state).toBe("warn");
    expect(of("data folder")?.detail).toContain("does not exist yet");
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test.if(process.geteuid?.() === 0)(
    "that this user may not make fails as serve does",
    async () => {
      using folder = temporaryFolder();
      chmodSync(folder.path, 0o755);
      const own = join(folder.path, "rehome");
      copyFileSync(await executable(), own);
      const data = join(folder.path, "below/data");
      const asNobody = (...args: string[]) =>
        rehome(["--reuid=65534", "--clear-groups", own, ...args, "--data", data], {
          path: "setpriv",
        });
      const { stdout } = await asNobody("doctor", "--port", "1", "--json");
      const { checks } = documentedJson(doctorSchema, stdout) as Report;
      const found = checks.find(({ check }) => check === "data folder");
      const { stderr } = await asNobody("serve", "--port", "0");
      expect(stderr).toContain("cannot be used: permission denied");
      expect(found?.state).toBe("fail");
      expect(stderr).toBe(`Error: ${found?.detail}.\nTry: ${found?.advice}\n`);
    },
  );

  test("that is a file fails", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "file");
    writeFileSync(file, "");
    const { of, stderr } = await examined(file);
    expect(of("data folder")).toMatchObject({ state: "fail" });
    expect(of("data folder")?.detail).toContain("a part of the path is a file, not a folder");
    expect(stderr).toBe("Error: 1 check failed.\n");
  });

  test("without a catalogue beside used counters fails as serve does", async () => {
    using folder = temporaryFolder();
    const { key } = await makeKey(folder.path);
    const server = await serve(folder.path);
    await fetch(`${server.origin}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
    await server.stop();
    rmSync(join(folder.path, "rehome.db"));
    const { report, of } = await examined(folder.path);
    expect(report.state).toBe("fail");
    expect(of("data folder")?.detail).toContain("rehome.db is missing, but");
    const refused = await command(["serve", "--data", folder.path]);
    expect(refused.stderr).toContain("rehome.db is missing, but");
  });

  test("on a disk that is read-only fails as serve does, and nobody's rights are blamed", async () => {
    using disk = smallDisk(8);
    if (disk === undefined) return;
    await makeKey(disk.path);
    Bun.spawnSync(["mount", "-o", "remount,ro", disk.path]);
    const found = (await examined(disk.path)).of("data folder");
    expect(found).toMatchObject({ state: "fail", detail: expect.stringContaining("read-only") });
    expect(found?.advice).toStartWith("Mount its disk for writing, or");
    expect((await command(["serve", "--data", disk.path])).stderr).toContain(found?.advice ?? "no");
  });

  test("whose file system keeps no permissions is warned of, by the start too", async () => {
    using folder = temporaryFolder();
    using open = openDisk(folder.path);
    if (open === undefined) return;
    await using server = await serve(open.path);
    const words = "(FUSE) keeps no permissions. Keep the data on another disk";
    await until(() => server.stderr().includes(words));
    expect((await examined(open.path)).of("permissions")).toMatchObject({
      state: "warn",
      detail: expect.stringMatching(/^others can read \S+: FUSE keeps no permissions$/),
      advice: expect.stringContaining("umask=077"),
    });
  });

  test("with a log that somebody's read keeps from shrinking is warned of", async () => {
    using folder = temporaryFolder();
    await makeKey(folder.path);
    expect((await examined(folder.path)).of("log")).toBeUndefined();
    using reader = new Database(join(folder.path, "rehome.db"));
    reader.run("BEGIN");
    reader.query("SELECT count(*) FROM pets").get();
    using writer = new Database(join(folder.path, "rehome.db"));
    writer.run("CREATE TABLE much (text)");
    for (let part = 0; part < 70; part += 1) {
      writer.run("INSERT INTO much VALUES (zeroblob(1048576))");
    }
    expect((await examined(folder.path)).of("log")).toMatchObject({
      state: "warn",
      advice: expect.stringContaining("fuser -v"),
    });
  });

  test("that others can enter, and a file that others can read, are warned of", async () => {
    using folder = temporaryFolder();
    await makeKey(folder.path);
    chmodSync(join(folder.path, "rehome.db"), 0o644);
    const inside = join(folder.path, "backups");
    mkdirSync(inside);
    chmodSync(inside, 0o755);
    chmodSync(folder.path, 0o755);
    const { state, advice = "" } = (await examined(folder.path)).of("permissions") ?? {};
    expect(state).toBe("warn");
    await $`sh -c ${advice?.replace(/^[^:]*: /, "")}`;
    expect((await examined(folder.path)).of("permissions")).toMatchObject({ state: "ok" });
    expect((statSync(inside).mode & 0o777).toString(8)).toBe("700");
  });
});

describe("a database", () => {
  test("with a damaged page fails with the restore to be done", async () => {
    using folder = temporaryFolder();
    await makeKey(folder.path);
    truncateSync(join(folder.path, "rehome.db"), 20_480);
    const { report, of } = await examined(folder.path);
    expect(report.state).toBe("fail");
    expect(of("catalogue")?.detail).toContain("is damaged");
    expect(of("catalogue")?.advice).toContain("rehome restore FILE");
    expect(of("limits")).toMatchObject({ state: "ok" });
  });

  test("of damaged counters says to move them away: a backup has none", async () => {
    using folder = temporaryFolder();
    await makeKey(folder.path);
    const limits = join(folder.path, "limits.db");
    writeFileSync(limits, "no database");
    expect((await examined(folder.path)).of("limits")).toMatchObject({
      state: "fail",
      advice: "Move it away; all limits then count from zero.",
    });
    renameSync(limits, join(folder.path, "away"));
    expect((await examined(folder.path)).report.state).toBe("warn");
  });
});

describe("time", () => {
  test("a clock behind what the store has seen is warned of", async () => {
    using folder = temporaryFolder();
    const { id } = await makeKey(folder.path);
    await liveThrough(folder.path, id, [{ daysAgo: -1, requests: 1 }]);
    const { of } = await examined(folder.path);
    expect(of("clock")).toMatchObject({ state: "warn" });
    expect(of("clock")?.detail).toContain("is behind");
  });

  test.each([
    ["an hour behind", 3_600_000, "is behind"],
    ["a year behind", 365 * 86_400_000, "is behind"],
    ["a year ahead", -365 * 86_400_000, "days after"],
  ])("a clock that is %s of the newest record is warned of", async (_, aheadMs, words) => {
    using folder = temporaryFolder();
    await makeKey(folder.path);
    expect((await examined(folder.path)).of("clock")?.state).toBe("ok");
    await command(["pets", "add", "--name", "Rex", "--category", "1", "--data", folder.path]);
    using db = new Database(join(folder.path, "rehome.db"));
    const atMs = Date.now() + aheadMs;
    if (aheadMs < 0) db.run("UPDATE key_events SET at_ms = ?", [atMs]);
    db.run("UPDATE changes SET at_ms = ?", [atMs]);
    const { state, detail } = (await examined(folder.path)).of("clock") ?? {};
    expect([state, detail]).toEqual(["warn", expect.stringContaining(words)]);
  });

  test("a backup of last week is too old, and one that is gone is said", async () => {
    using folder = temporaryFolder();
    await makeKey(folder.path);
    const file = join(folder.path, "kept.db");
    await command(["backup", file, "--data", folder.path]);
    using db = new Database(join(folder.path, "rehome.db"));
    const aged =
      "UPDATE store_state SET value = json_set(value, '$.atMs', ?) WHERE name = 'backup'";
    db.run(aged, [Date.now() - 8.5 * 86_400_000]);
    const { of } = await examined(folder.path);
    expect(of("backup")).toMatchObject({ state: "warn" });
    expect(of("backup")?.detail).toStartWith("the last one is 8 days old: ");
    rmSync(file);
    expect((await examined(folder.path)).of("backup")).toMatchObject({
      state: "warn",
      detail: `the last one is not at its place any more: ${file}`,
    });
  });
});

describe("a PostgreSQL database", () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await testDatabase();
  }, hookTimeoutMs);
  afterEach(() => database[Symbol.asyncDispose](), hookTimeoutMs);

  async function onDatabase(url: string) {
    const env = { REHOME_STORE: url };
    const result = await command(["doctor", "--port", "1", "--json"], { env });
    const { password } = new URL(url);
    expect(result.stdout + result.stderr).not.toContain(password);
    const report = documentedJson(doctorSchema, result.stdout) as Report;
    // Both run on this machine.
    expect(report.checks.map(({ check }) => check)).not.toContain("clock skew");
    return report.checks.find(({ check }) => check === "database");
  }

  test("that is empty is left empty, and one in use is well", async () => {
    expect(await onDatabase(database.url)).toMatchObject({
      state: "warn",
      detail: expect.stringMatching(/\(REHOME_STORE\), PostgreSQL .*, schema lacks 0000_initial/),
    });
    const [before] = await database.sql`SELECT to_regnamespace('rehome') IS NULL AS "isEmpty"`;
    expect(before).toEqual({ isEmpty: true });
    const env = { REHOME_STORE: database.url };
    expect(await command(["keys", "list"], { env })).toMatchObject({ exitCode: 0 });
    expect(await onDatabase(database.url)).toMatchObject({
      state: "ok",
      detail: expect.stringContaining("schema up to date"),
    });
  });

  test("whose tables this user may only read fails with what to do", async () => {
    const env = { REHOME_STORE: database.url };
    expect(await command(["keys", "list"], { env })).toMatchObject({ exitCode: 0 });
    const role = `role_${crypto.randomUUID().replaceAll("-", "")}`;
    await database.sql.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'a password of its own'`);
    await database.sql.unsafe(`GRANT USAGE ON SCHEMA rehome TO ${role}`);
    const tables = `ON ALL TABLES IN SCHEMA rehome TO ${role}`;
    const ids = "USAGE ON ALL SEQUENCES IN SCHEMA rehome";
    const url = new URL(database.url);
    url.username = role;
    url.password = "a password of its own";
    for (const change of [
      `GRANT SELECT, INSERT, UPDATE ${tables}; GRANT ${ids} TO ${role}`,
      `GRANT DELETE ${tables}; REVOKE ${ids} FROM ${role}`,
    ]) {
      await database.sql.unsafe(change);
      expect(await onDatabase(url.href)).toMatchObject({
        state: "fail",
        detail: expect.stringContaining(`does not let ${role} change its tables`),
        advice: expect.stringContaining(`IN SCHEMA rehome TO "${role}"`),
      });
    }
    const advice = (await onDatabase(url.href))?.advice ?? "";
    await database.sql.unsafe(advice.replace("As their owner: ", ""));
    expect(await onDatabase(url.href)).toMatchObject({ state: "ok" });
    const add = ["pets", "add", "--name", "Rex", "--category", "1"];
    expect(await command(add, { env: { REHOME_STORE: url.href } })).toMatchObject({ exitCode: 0 });
    await database.sql.unsafe(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  });
});

describe("the port", () => {
  test("where nothing answers is warned of, another program there is a failure", async () => {
    using folder = temporaryFolder();
    expect((await examined(folder.path)).of("server")).toMatchObject({ state: "warn" });
    for (const body of ["<html>", "null"]) {
      using other = Bun.serve({ port: 0, fetch: () => new Response(body) });
      const { of } = await examined(folder.path, "--port", String(other.port));
      expect(of("server")?.detail).toBe(`what answers on 127.0.0.1:${other.port} is not rehome`);
      expect(of("server")?.state).toBe("fail");
    }
  });

  test("is asked over HTTPS where that is spoken", async () => {
    using folder = temporaryFolder();
    const pair = ["crt", "key"].map((kind) =>
      join(import.meta.dir, `../../test/fixtures/tls/first.${kind}`),
    );
    const [cert = "", key = ""] = pair;
    await using server = await serve(folder.path, ["--tls-cert", cert, "--tls-key", key]);
    const { of } = await examined(folder.path, "--port", new URL(server.origin).port);
    expect(of("server")).toMatchObject({ state: "ok" });
  });

  test("of a server that is not ready fails with what it says", async () => {
    using folder = temporaryFolder();
    const message = "Not ready. disk: no space is left on the disk.";
    const refused = { code: "unavailable", message, status: 503 };
    const other = Bun.serve({
      port: 0,
      fetch: () => Response.json(refused, { status: 503 }),
    });
    const { of } = await examined(folder.path, "--port", String(other.port));
    expect(of("server")?.detail).toEndWith(message);
    await other.stop(true);
  });
});
