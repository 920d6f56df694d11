/** Backups off the machine: to a bucket, encrypted, and from there to an empty machine. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { backupSchema } from "../../src/features/operate/backup/backup.ts";
import { listSchema, verifiedSchema } from "../../src/features/operate/backup/find.ts";
import { restoreSchema } from "../../src/features/operate/backup/restore.ts";
import { callerOf, until } from "../../test/helpers/ask.ts";
import { begun, makeKey, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { documentedJson } from "../../test/helpers/json-contract.ts";
import { command } from "../../test/helpers/command.ts";
import { startS3 } from "../../test/helpers/s3.ts";

let s3: Awaited<ReturnType<typeof startS3>>;
const folder = temporaryFolder();
const data = join(folder.path, "data");
const identity = join(folder.path, "identity.txt");
let recipient: string;
let key: string;
beforeAll(async () => {
  s3 = await startS3();
  const secret = await generateIdentity();
  recipient = await identityToRecipient(secret);
  writeFileSync(identity, `# made by age-keygen\n${secret}\n`);
  key = (await makeKey(data, "--plan", "free")).key;
  using db = new Database(join(data, "rehome.db"));
  db.run(
    `INSERT INTO sources (name, url, secret, reading, created_at_ms, created_by)
     VALUES ('north', 'https://north.example/list.csv', 's3cr3t-credential', '{}', 0, 'kim')`,
  );
  db.run(
    "INSERT INTO schedule (name, kind, target, every_ms, next_at_ms) VALUES ('pull north', 'pull', 'north', 3600000, 0)",
  );
}, 180_000);
afterAll(async () => {
  await s3[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const run = (...words: string[]) => command(words, { env: s3.env });
const secretIn = (at: string) => {
  using db = new Database(join(at, "rehome.db"), { readonly: true });
  return db.query("SELECT secret, paused FROM sources, schedule").get();
};

test("a bucket's newest backup is listed, verified and restored, without the credentials of lists", async () => {
  const { stdout } = await run("backup", s3.address, "--data", data, "--json");
  const made = documentedJson(backupSchema, stdout) as { file: string; bytes: number };
  expect(made.file).toMatch(/^s3:\/\/backups\/north\/rehome-[0-9a-f]{8}-\d{8}T\d{6}Z\.db$/);
  expect(readdirSync(data).filter((name) => name.endsWith(".partial"))).toEqual([]);
  const listed = documentedJson(
    listSchema,
    (await run("backup", "list", s3.address, "--json")).stdout,
  );
  expect(listed).toMatchObject([{ file: made.file, bytes: made.bytes, encrypted: false }]);
  const verified = await run("backup", "verify", s3.address, "--json");
  expect(documentedJson(verifiedSchema, verified.stdout)).toMatchObject({
    file: made.file,
    keys: 1,
  });

  const empty = join(folder.path, "empty");
  const restored = await run("restore", s3.address, "--data", empty, "--resume-sources", "--json");
  expect(documentedJson(restoreSchema, restored.stdout)).toMatchObject({
    keys: 1,
    pausedSources: 1,
    missingSecrets: ["north"],
  });
  expect(secretIn(empty)).toEqual({ secret: "", paused: "restore" });
  expect(await Bun.file(join(empty, "rehome.db")).text()).not.toContain("s3cr3t");
  const refused = await run("sources", "resume", "north", "--data", empty);
  expect(refused).toMatchObject({ exitCode: 2 });
  const secret = join(folder.path, "secret");
  writeFileSync(secret, "another\n");
  await run("sources", "resume", "north", "--secret-file", secret, "--data", empty);
  expect(secretIn(empty)).toEqual({ secret: "another", paused: null });
});

test("an encrypted backup has everything, and opens only with the private key", async () => {
  const to = `${s3.address}/encrypted`;
  const made = await run("backup", to, "--backup-recipient", recipient, "--data", data, "--json");
  const { file } = documentedJson(backupSchema, made.stdout) as { file: string };
  expect(file).toEndWith(".db.age");
  const locked = await run("backup", "verify", to);
  expect(locked).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--identity FILE") });
  const other = join(folder.path, "other.txt");
  writeFileSync(other, await generateIdentity());
  const wrong = await run("backup", "verify", to, "--identity", other);
  expect(wrong).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("cannot be decrypted"),
  });
  expect(await run("backup", "verify", file, "--identity", identity)).toMatchObject({
    exitCode: 0,
  });

  const restored = join(folder.path, "decrypted");
  await run("restore", to, "--identity", identity, "--data", restored);
  expect(secretIn(restored)).toEqual({ secret: "s3cr3t-credential", paused: "restore" });

  const local = join(folder.path, "local");
  mkdirSync(local);
  // From a clock that was wrong.
  writeFileSync(join(local, "rehome-00000000-29991231T000000Z.db"), "no backup");
  await run("backup", local, "--backup-recipient", recipient, "--data", data);
  expect(await run("backup", "verify", local, "--identity", identity)).toMatchObject({
    exitCode: 0,
  });
});

test("a verify that is interrupted leaves nothing of the backup behind", async () => {
  const temporary = join(folder.path, "temporary");
  mkdirSync(temporary);
  await run("backup", `${s3.address}/stopped`, "--data", data);
  s3.at.fault = ({ url }) => (url?.split("?")[0]?.includes(".db") ? "stall" : undefined);
  const env = { ...s3.env, TMPDIR: temporary };
  const child = await begun(["backup", "verify", `${s3.address}/stopped`], env);
  await until(() => readdirSync(temporary).length > 0);
  child.kill("SIGINT");
  await child.exited;
  s3.at.fault = undefined;
  expect(child.signalCode).toBe("SIGINT");
  expect(readdirSync(temporary)).toEqual([]);
});

test("an empty machine serves from a bucket by one command", async () => {
  const empty = join(folder.path, "machine");
  const env = { ...s3.env, REHOME_PORT: "0" };
  await using server = await serve(empty, [], { env, words: ["restore", s3.address, "--serve"] });
  expect((await callerOf(server, key).get()).status).toBe(200);
});
