/** `rehome doctor`: each kind of trouble is made, found, and told with what to do. */
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import {
  chmodSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { dayMs, hourMs } from "../../../src/domain/clock.ts";
import { checkCertificate } from "../../../src/features/operate/doctor/server.ts";
import { doctorSchema } from "../../../src/features/operate/doctor/command.ts";
import { loadConfig } from "../../../src/config.ts";
import { makeKey, temporaryFolder } from "../../helpers/binary.ts";
import { command } from "../../helpers/command.ts";
import { documentedJson } from "../../helpers/json-contract.ts";
import { liveThrough } from "../../helpers/usage.ts";
import {
  checkBackup,
  checkSources,
  type JobRow,
} from "../../../src/features/operate/doctor/schedule.ts";
import { backupSettings } from "../../../src/features/operate/settings.ts";
import { testIo } from "../../helpers/io.ts";

interface Report {
  readonly state: string;
  readonly checks: { check: string; state: string; detail: string; advice: string | null }[];
}

async function examined(data: string, env: Record<string, string> = {}) {
  const args = ["doctor", "--data", data, "--port", env["PORT"] ?? "1", "--json"];
  const { exitCode, stdout } = await command(args, { env });
  const { state, checks } = documentedJson(doctorSchema, stdout) as Report;
  // The exit code is for scripts, and says the same.
  expect(exitCode).toBe(state === "fail" ? 1 : 0);
  return (name: string) => checks.find(({ check }) => check === name);
}

function change(data: string, sql: string, ...values: (number | string)[]): void {
  using db = new Database(join(data, "rehome.db"));
  db.run(sql, values);
}

const add = (data: string) =>
  command(["pets", "add", "--name", "Rex", "--category", "1", "--create-category", "--data", data]);
const aged = "UPDATE store_state SET value = json_set(value, '$.atMs', ?) WHERE name = 'backup'";

type Trouble = readonly [check: string, said: RegExp, make: (data: string) => unknown];

const backUp = (data: string) => command(["backup", join(data, "kept"), "--data", data]);

/** What is done to a sound store, and what the doctor says then. */
const troubles: Readonly<Record<string, Trouble>> = {
  "no backup yet": ["backup", /^warn there is no backup yet -> .*--backup-to/, () => undefined],
  "a backup of last week": [
    "backup",
    /^warn the last one is 8 days old: /,
    async (data) => {
      await backUp(data);
      change(data, aged, Date.now() - 8.5 * dayMs);
    },
  ],
  "a backup that is gone": [
    "backup",
    /^warn the last one is not at its place any more: /,
    async (data) => {
      await backUp(data);
      rmSync(join(data, "kept"));
    },
  ],
  "what others can enter and read": [
    "permissions",
    /^warn .*; chmod -R u\+rwX,go= /,
    (data) => {
      chmodSync(join(data, "rehome.db"), 0o644);
      chmodSync(data, 0o755);
    },
  ],
  "a damaged page": [
    "catalogue",
    /^fail .*is damaged.*rehome restore FILE/,
    (data) => truncateSync(join(data, "rehome.db"), 20_480),
  ],
  "damaged counters, which no backup has": [
    "limits",
    /^fail .* -> Move it away; all limits then count from zero\.$/,
    (data) => writeFileSync(join(data, "limits.db"), "no database"),
  ],
  "a catalogue that is missing beside used counters": [
    "data folder",
    /^fail .*rehome\.db is missing, but/,
    async (data) => {
      const keys = await command(["keys", "list", "--json", "--data", data]);
      const [key] = JSON.parse(keys.stdout) as { id: string }[];
      await liveThrough(data, key?.id ?? "", [{ daysAgo: 0, requests: 1 }]);
      for (const name of readdirSync(data).filter((each) => each.startsWith("rehome.db"))) {
        rmSync(join(data, name));
      }
    },
  ],
  "a log that somebody's read keeps from shrinking": [
    "log",
    /^warn .*fuser -v/,
    (data) => {
      const reader = new Database(join(data, "rehome.db"));
      reader.run("BEGIN");
      reader.query("SELECT count(*) FROM pets").get();
      using writer = new Database(join(data, "rehome.db"));
      writer.run("CREATE TABLE much (text)");
      for (let part = 0; part < 70; part += 1) {
        writer.run("INSERT INTO much VALUES (zeroblob(1048576))");
      }
      return reader;
    },
  ],
  "a clock behind the counters": [
    "clock",
    /^warn .*is behind/,
    async (data) => {
      const { id } = await makeKey(data);
      await liveThrough(data, id, [{ daysAgo: -1, requests: 1 }]);
    },
  ],
  "a clock an hour behind the newest record": [
    "clock",
    /^warn .*is behind/,
    async (data) => {
      await add(data);
      change(data, "UPDATE changes SET at_ms = ?", Date.now() + hourMs);
    },
  ],
  "a clock a year after it": [
    "clock",
    /^warn .*days after/,
    async (data) => {
      await add(data);
      for (const table of ["changes", "key_events"]) {
        change(data, `UPDATE ${table} SET at_ms = ?`, Date.now() - 365 * dayMs);
      }
    },
  ],
};

test.each(Object.entries(troubles))("finds %s", async (_, [check, said, make]) => {
  using folder = temporaryFolder();
  await makeKey(folder.path);
  if (check !== "backup") expect((await examined(folder.path))(check)?.state ?? "ok").toBe("ok");
  const held = await make(folder.path);
  const found = (await examined(folder.path))(check);
  expect(`${found?.state} ${found?.detail} -> ${found?.advice}`).toMatch(said);
  if (held instanceof Database) held.close();
});

test("a sound store is left byte for byte as it was", async () => {
  using folder = temporaryFolder();
  await makeKey(folder.path);
  const state = () =>
    readdirSync(folder.path).map((name) => {
      const path = join(folder.path, name);
      return [name, Bun.hash(readFileSync(path)), statSync(path).mtimeMs];
    });
  const before = state();
  await examined(folder.path);
  expect(state()).toEqual(before);
});

test("a store file or TLS key that every user can read is warned of", async () => {
  using folder = temporaryFolder();
  const [store = "", key = ""] = ["store", "key.pem"].map((name) => join(folder.path, name));
  const found = async (mode: number) => {
    for (const file of [store, key]) {
      writeFileSync(file, "postgres://rehome:secret@127.0.0.1:1/rehome");
      chmodSync(file, mode);
    }
    const env = { REHOME_STORE_FILE: store, REHOME_TLS_CERT: key, REHOME_TLS_KEY: key };
    const quick = ["--port", "1", "--store-timeout", "1", "--json"];
    const { stdout } = await command(["doctor", ...quick], { env });
    const { checks } = JSON.parse(stdout) as Report;
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

test("the certificate is ok, about to end, ended, or nothing that a start could use", async () => {
  using folder = temporaryFolder();
  const fixture = (name: string) => join(import.meta.dir, "../../fixtures/tls", name);
  const [cert, key] = [fixture("first.crt"), fixture("first.key")];
  const found = async (tlsCert: string, tlsKey: string) => {
    const env = { REHOME_TLS_CERT: tlsCert, REHOME_TLS_KEY: tlsKey };
    return (await examined(folder.path, env))("certificate")?.detail;
  };
  expect(await found(cert, key)).toStartWith(`${cert}, valid until 2`);
  expect(await found("/gone.pem", key)).toContain("cannot be read: there is no such file");
  expect(await found(cert, fixture("second.key"))).toContain(`is not the key of ${cert}`);
  expect(await found(import.meta.path, key)).toContain("is not a certificate in PEM");
  const locked = join(folder.path, "locked.key");
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = { type: "pkcs8", format: "pem", cipher: "aes-128-cbc", passphrase: "x" } as const;
  writeFileSync(locked, privateKey.export(pem));
  expect(await found(cert, locked)).toContain("not a private key in PEM without a passphrase");
  const { config } = loadConfig({ "tls-cert": cert, "tls-key": key }, { HOME: "/" }, []);
  const end = new X509Certificate(readFileSync(cert)).validToDate.getTime();
  const stateAt = async (ms: number) => (await checkCertificate(config, ms))[0]?.state;
  const states = [15, 13, 0].map((days) => stateAt(end - days * dayMs));
  expect(await Promise.all(states)).toEqual(["ok", "warn", "fail"]);
});

test("another program on the port is a failure, and so is a server that is not ready", async () => {
  using folder = temporaryFolder();
  expect((await examined(folder.path))("server")).toMatchObject({ state: "warn" });
  const message = "Not ready. disk: no space is left on the disk.";
  const unready = JSON.stringify({ code: "unavailable", message, status: 503 });
  for (const [body, status, words] of [
    ["<html>", 200, "is not rehome"],
    ["null", 200, "is not rehome"],
    [unready, 503, message],
  ] as const) {
    using other = Bun.serve({ port: 0, fetch: () => new Response(body, { status }) });
    const found = (await examined(folder.path, { PORT: `${other.port}` }))("server");
    expect(found).toMatchObject({ state: "fail", detail: expect.stringContaining(words) });
  }
});

const nowMs = Date.UTC(2026, 10, 24);
const row: JobRow = {
  kind: "pull",
  target: "north",
  everyMs: hourMs,
  sinceMs: nowMs,
  failures: 0,
  problem: null,
  paused: null,
};
const states = (...rows: Partial<JobRow>[]) =>
  checkSources(
    rows.map((each) => ({ ...row, ...each })),
    nowMs,
  ).map(({ state }) => state);
const ago = (hours: number) => ({ sinceMs: nowMs - hours * hourMs });

test("a list that is pulled in time is ok, whatever one pull came to", () => {
  expect(states()).toEqual([]);
  expect(states({ kind: "backup" })).toEqual([]);
  expect(states({}, ago(3))).toEqual(["ok"]);
  expect(states({ paused: "person", ...ago(99) })).toEqual(["ok"]);
});

test("one is warned of after three intervals, and fails after 48 hours", () => {
  expect(states(ago(3.1), ago(48), ago(48.1))).toEqual(["warn", "warn", "fail"]);
  // Not before it could have been pulled three times.
  expect(states({ everyMs: 24 * hourMs, ...ago(71) })).toEqual(["ok"]);
  expect(states({ everyMs: 24 * hourMs, ...ago(73) })).toEqual(["fail"]);
});

test("what waits for a person is warned of", () => {
  expect(states({ problem: { text: "12 withdrawals wait for a person" } })).toEqual(["warn"]);
  expect(states({ paused: "undo" }, { paused: "restore" })).toEqual(["warn", "warn"]);
});

test("backups that fail are warned of, and fail after 48 hours, or as often as that takes", async () => {
  const loaded = loadConfig({ "backup-to": "/backups" }, {}, Object.values(backupSettings));
  const problem = { text: "The disk is full." };
  const found = (more: Partial<JobRow>) => {
    const job = { ...row, kind: "backup", everyMs: 24 * hourMs, problem, ...more } as const;
    return checkBackup("/none", [job], nowMs, loaded, testIo());
  };
  expect(await found({ failures: 3 })).toMatchObject({
    state: "warn",
    detail: "the service failed to make one, 3 times in a row: The disk is full",
  });
  expect((await found({ failures: 3, ...ago(96) })).state).toBe("fail");
  expect((await found({ failures: 20 })).state).toBe("fail");
});
