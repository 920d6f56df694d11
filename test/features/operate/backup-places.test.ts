/** Backups in a bucket: a real S3 server that checks signatures. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decryptTo } from "../../../src/features/operate/backup/encryption.ts";
import { bucketPlace, deliver } from "../../../src/features/operate/backup/places.ts";
import { startS3 } from "../../helpers/s3.ts";

let s3: Awaited<ReturnType<typeof startS3>>;
let folder: string;
let file: string;
beforeAll(async () => {
  s3 = await startS3();
  folder = mkdtempSync(join(tmpdir(), "rehome-places-"));
  file = join(folder, "file");
  // Two parts, of which the second is short.
  writeFileSync(file, Buffer.alloc(9 * 1024 * 1024, "abcdefg"));
}, 120_000);
afterAll(async () => {
  await s3[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

test("a bucket lists, keeps and removes what is sent", async () => {
  const place = bucketPlace(s3.address, s3.env, undefined);
  expect(await place.list()).toEqual([]);
  await deliver(place, "one.db", file);
  await deliver(bucketPlace(`${s3.address}/deeper`, s3.env, undefined), "two.db", file);
  expect(await place.list()).toEqual([{ name: "one.db", bytes: 9 * 1024 * 1024 }]);
  const content = await place.read("one.db", (stream) => new Response(stream).bytes());
  expect(Buffer.from(content).equals(readFileSync(file))).toBe(true);
  await place.remove("one.db");
  expect(await place.list()).toEqual([]);
});

test("credentials come from a file with profiles, too; a wrong secret is refused", async () => {
  const credentials = join(folder, "credentials");
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL } = s3.env;
  const profile = (name: string, secret: string) =>
    `[${name}]\naws_access_key_id = ${AWS_ACCESS_KEY_ID}\naws_secret_access_key = ${secret}\nendpoint_url = ${AWS_ENDPOINT_URL}\n`;
  writeFileSync(credentials, profile("default", "wrong") + profile("good", AWS_SECRET_ACCESS_KEY));
  const place = (env: Record<string, string>) => bucketPlace(s3.address, env, credentials);
  expect(await place({ AWS_PROFILE: "good" }).list()).toEqual([]);
  const refused = await deliver(place({}), "one.db", file).catch((error: Error) => error);
  expect(refused).toMatchObject({ kind: "unavailable" });
  expect(String(refused)).toContain("SignatureDoesNotMatch");
  expect(String(refused)).not.toContain("wrong");
  expect(() => bucketPlace(s3.address, {}, undefined)).toThrow("no credentials");
});

test("what may be written, but not read, is removed again", async () => {
  const place = bucketPlace(s3.address, s3.env, undefined);
  s3.at.fault = ({ method }) => (method === "GET" ? 403 : undefined);
  const unread = await deliver(place, "one.db", file).catch((error: Error) => error);
  s3.at.fault = undefined;
  expect(String(unread)).toContain("was sent, but");
  expect(await place.list()).toEqual([]);
});

test("what arrives damaged is removed, and no network is an error", async () => {
  const place = bucketPlace(s3.address, s3.env, undefined);
  const damaging = { ...place, put: (name: string) => place.put(name, Bun.main) };
  const damaged = await deliver(damaging, "one.db", file).catch((error: Error) => error);
  expect(String(damaged)).toContain("one.db arrived damaged");
  expect(await place.list()).toEqual([]);
  s3.at.fault = ({ method }) => (method === "DELETE" ? 403 : undefined);
  const kept = await deliver(damaging, "one.db", file).catch((error: Error) => error);
  expect(String(kept)).toMatch(/arrived damaged\. .*one.db cannot be removed: AccessDenied/);
  s3.at.fault = undefined;
  await place.remove("one.db");
  for (const fault of [403, 500, "hang up"] as const) {
    s3.at.fault = () => fault;
    const failed = await deliver(place, "one.db", file).catch((error: Error) => error);
    expect(failed).toMatchObject({ kind: "unavailable" });
  }
  s3.at.fault = undefined;
  expect(await place.list()).toEqual([]);
}, 60_000);

test("a file that does not end arrived damaged", async () => {
  const place = bucketPlace(s3.address, s3.env, undefined);
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)),
  });
  const read: typeof place.read = (_, take) => take(endless);
  const failed = await deliver({ ...place, read }, "one.db", file).catch((error: Error) => error);
  expect(String(failed)).toContain("one.db arrived damaged");
});

test("a list that does not end is an error", async () => {
  const page = `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken></ListBucketResult>`;
  using endless = Bun.serve({ port: 0, fetch: () => new Response(page) });
  const env = { ...s3.env, AWS_ENDPOINT_URL: endless.url.origin };
  const listing = bucketPlace(s3.address, env, undefined).list();
  const failed = await listing.then(String, (error: Error) => error.message);
  expect(failed).toContain("the list does not end");
});

test("what a bucket says of a failure is cut to a line", async () => {
  const said = `<Error><Code>${"A".repeat(5_000)}</Code><Message>No.</Message></Error>`;
  using long = Bun.serve({ port: 0, fetch: () => new Response(said, { status: 403 }) });
  const env = { ...s3.env, AWS_ENDPOINT_URL: long.url.origin };
  const failed = await bucketPlace(s3.address, env, undefined)
    .list()
    .then(String, (error: Error) => error.message);
  expect(failed).toContain(`cannot be listed: ${"A".repeat(200)}.`);
});

test.each(["", "AGE-SECRET-KEY-1"])(
  "a file with %p is named as one without a key",
  async (text) => {
    const identity = join(folder, "identity");
    writeFileSync(identity, text);
    const decrypting = decryptTo(new Blob([]).stream(), join(folder, "plain"), identity);
    const failed = await decrypting.then(String, (error: Error) => error.message);
    expect(failed).toBe(`${identity} has no private key of age.`);
  },
);
