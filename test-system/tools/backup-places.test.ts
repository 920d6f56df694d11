/** Backups in a bucket: a real S3 server that checks signatures, and hostile ones. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig, type ServiceSettings } from "../../src/config.ts";
import { type BucketAccess, bucketAccess } from "../../src/features/operate/backup/credentials.ts";
import { headed } from "../../src/features/operate/backup/encryption.ts";
import { bucketPlace, deliver, type Place } from "../../src/features/operate/backup/places.ts";
import { backupSettings } from "../../src/features/operate/settings.ts";
import { startS3 } from "../../test/helpers/s3.ts";

let s3: Awaited<ReturnType<typeof startS3>>;
let folder: string;
let file: string;
let access: BucketAccess;
const bytes = 9 * 1024 * 1024;
const name = "rehome-one.db";
beforeAll(async () => {
  s3 = await startS3();
  access = accessOf(s3.env);
  folder = mkdtempSync(join(tmpdir(), "rehome-places-"));
  file = join(folder, "file");
  writeFileSync(file, Buffer.alloc(bytes, "abcdefg"));
}, 120_000);
afterAll(async () => {
  await s3[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

type Variables = Readonly<Record<string, string>>;

function accessOf(env: Variables, credentials?: string, service?: ServiceSettings): BucketAccess {
  const flags = credentials === undefined ? {} : { "backup-credentials": credentials };
  return bucketAccess(loadConfig(flags, {}, Object.values(backupSettings), service), env);
}

const said = (work: Promise<unknown>) => work.then(String, (error: Error) => error.message);

test("a bucket lists, keeps and removes what is sent", async () => {
  const place = bucketPlace(s3.address, access);
  expect(await place.list()).toEqual([]);
  await deliver(place, name, file);
  await deliver(place, "another.db", file);
  await deliver(bucketPlace(`${s3.address}/deeper`, access), "rehome-two.db", file);
  await deliver(bucketPlace(`${s3.address}/rehome-deeper`, access), "rehome-two.db", file);
  expect(await place.list()).toEqual([{ name, bytes }]);
  expect(await place.sizeOf("another.db")).toBe(bytes);
  expect(await place.sizeOf("another")).toBeUndefined();
  const content = await place.read(name, bytes, (stream) => new Response(stream).bytes());
  expect(Buffer.from(content).equals(readFileSync(file))).toBe(true);
  for (const each of [name, "another.db"]) await place.remove(each);
  expect(await place.list()).toEqual([]);
});

test("a prefix may have any characters", async () => {
  const place = bucketPlace(`${s3.address}/a b+c&é'(1)*%`, access);
  await deliver(place, name, import.meta.path);
  expect((await place.list()).map((each) => each.name)).toEqual([name]);
  expect(await place.sizeOf(name)).toBe(Bun.file(import.meta.path).size);
  await place.remove(name);
  expect(await place.list()).toEqual([]);
});

test("names are read page by page, up to a bound", async () => {
  const names = [1, 2, 3, 4, 5].map((number) => `rehome-${number}.db`);
  using server = Bun.serve({
    port: 0,
    fetch({ url }) {
      const { searchParams } = new URL(url);
      const from = Number((searchParams.get("continuation-token") ?? "0").replace("&<", ""));
      const to = from + Number(searchParams.get("max-keys"));
      const page = names.slice(from, to).map((each) => object(`north/${each}`, 7));
      const next = `<NextContinuationToken>&amp;&lt;${to}</NextContinuationToken>`;
      return new Response(list(page.join(""), to < names.length ? next : ""));
    },
  });
  const hasAll = { ...access, endpoint: server.url.origin };
  const place = bucketPlace(s3.address, hasAll, { pageNames: 2 });
  expect(await place.list()).toEqual(names.map((each) => ({ name: each, bytes: 7 })));
  const short = bucketPlace(s3.address, hasAll, { pageNames: 2, names: 4 });
  expect(await said(short.list())).toContain("more than 4 names, or its list does not end");
});

test("what names no bucket is refused", () => {
  for (const address of ["s3://", "s3://..", "s3://backups/../other", "s3://backups/a/./b"]) {
    expect(() => bucketPlace(address, access)).toThrow("names no bucket");
  }
});

const key = (word: string): Variables => ({
  AWS_ACCESS_KEY_ID: `${word}-id`,
  AWS_SECRET_ACCESS_KEY: `${word}-secret`,
});
const whole = (word: string): Variables => ({ ...key(word), AWS_SESSION_TOKEN: `${word}-token` });
const profile = (variables: Variables, heading = "default") =>
  [`[${heading}]`, ...Object.entries(variables).map(([at, is]) => `${at.toLowerCase()} = ${is}`)]
    .join("\n")
    .concat("\n");

const places = ["file", "env", "shared", "service"] as const;
/** Each place has nothing, a key, or a key with a token. If it has no key, another one counts. */
const kinds = [undefined, key, whole];
const combinations = Array.from({ length: kinds.length ** places.length }, (_, number) => {
  const [file, env, shared, service] = places.map(
    (_, at) => kinds[Math.floor(number / 3 ** at) % 3],
  );
  return { file, env, shared, service };
});

test("credentials come from one place as a whole, whatever the other places have", () => {
  for (const given of combinations) {
    const [credentials = "", shared = ""] = (["file", "shared"] as const).map((place) => {
      const path = join(folder, place);
      writeFileSync(path, profile(given[place]?.(place) ?? {}));
      return path;
    });
    const env = {
      ...given.env?.("env"),
      ...(given.shared && { AWS_SHARED_CREDENTIALS_FILE: shared }),
    };
    const variables = new Map(Object.entries(given.service?.("service") ?? {}));
    const service = { file: "/etc/default/rehome", variables };
    const found = () => accessOf(env, given.file && credentials, service);
    const place = places.find((each) => given[each]);
    if (place === undefined) {
      expect(found).toThrow("There are no credentials for the bucket.");
      continue;
    }
    const { accessKeyId, secretAccessKey, sessionToken } = found();
    expect({ accessKeyId, secretAccessKey, sessionToken }).toEqual({
      accessKeyId: `${place}-id`,
      secretAccessKey: `${place}-secret`,
      sessionToken: given[place] === whole ? `${place}-token` : undefined,
    });
  }
});

test("a file with profiles is read by its name, and half a key is none", async () => {
  const credentials = join(folder, "credentials");
  const { AWS_ENDPOINT_URL: endpoint_url, AWS_SECRET_ACCESS_KEY, ...id } = s3.env;
  writeFileSync(
    credentials,
    profile({ ...id, endpoint_url, AWS_SECRET_ACCESS_KEY: "wrong" }) +
      profile({ ...id, endpoint_url, AWS_SECRET_ACCESS_KEY }, "good") +
      profile(id, "half"),
  );
  const place = (env: Variables) => bucketPlace(s3.address, accessOf(env, credentials));
  expect(await place({ AWS_PROFILE: "good" }).list()).toEqual([]);
  const refused = await said(deliver(place({}), name, file));
  expect(refused).toContain("SignatureDoesNotMatch");
  expect(refused).not.toContain("wrong");
  for (const each of ["half", "none"]) {
    expect(() => place({ ...key("env"), AWS_PROFILE: each })).toThrow(
      `${credentials} has no key and secret of [${each}].`,
    );
  }
  expect(() => accessOf({ ...key("env"), AWS_ENDPOINT_URL: "kim" })).toThrow("not an address");
});

test("what arrives damaged is removed, and no network is an error", async () => {
  const place = bucketPlace(s3.address, access);
  s3.at.fault = ({ method }) => (method === "PUT" ? "cut" : undefined);
  expect(await said(deliver(place, name, file))).toMatch(/was sent, but .*It was removed\.$/);
  expect(await place.list()).toEqual([]);
  s3.at.fault = ({ method }) => (method === "PUT" ? "cut" : method === "DELETE" ? 403 : undefined);
  expect(await said(deliver(place, name, file))).toMatch(/one.db cannot be removed: AccessDenied/);
  s3.at.fault = undefined;
  await place.remove(name);
  for (const fault of [403, 500, "hang up"] as const) {
    s3.at.fault = () => fault;
    const failed = await deliver(place, name, file).catch((error: Error) => error);
    expect(failed).toMatchObject({ kind: "unavailable" });
  }
  let count = 2;
  s3.at.fault = () => (count-- > 0 ? 503 : undefined);
  expect(await place.list()).toEqual([]);
  s3.at.fault = undefined;
});

const letters = new Uint8Array(64 * 1024).fill(97);
/** Never ends by itself; `given` counts what was taken of it. */
const given = { bytes: 0 };
const endless = (beginning = "") =>
  new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(beginning)),
      pull(controller) {
        given.bytes += letters.length;
        controller.enqueue(letters);
      },
    }),
  );
const list = (contents: string, rest = "") =>
  `<ListBucketResult><IsTruncated>${rest !== ""}</IsTruncated>${rest}${contents}</ListBucketResult>`;
const object = (at: string, size: number) =>
  `<Contents><Key>${at}</Key><Size>${size}</Size></Contents>`;

const short = new Blob(["a"]);
const gzipped = () =>
  new Response(Bun.gzipSync(list(object(name, 1))), { headers: { "content-encoding": "gzip" } });

const listing = (place: Place) => place.list();
const reading = (place: Place) =>
  place.read(name, 1_000, (content) => new Response(content).text());

/** What a hostile or broken service answers, what is asked of it, and what is said then. */
const hostile: [string, () => Response, (place: Place) => Promise<unknown>, string][] = [
  ["a page that does not end", () => endless(), listing, "more than 1048576 bytes"],
  [
    "a page without an end to its names",
    () => endless("<ListBucketResult><Contents>"),
    (place) => place.sizeOf(name),
    "more than 1048576 bytes",
  ],
  [
    "a list that does not end",
    () => new Response(list("", "<NextContinuationToken>a</NextContinuationToken>")),
    listing,
    "or its list does not end",
  ],
  ["no list", () => new Response("<html>Sign in</html>"), listing, "did not respond with a list"],
  ["an object that does not end", () => endless(), reading, "has not the 1000 bytes"],
  ["a longer object than listed", () => new Response(letters), reading, "has not the 1000 bytes"],
  ["a shorter object", () => new Response(short.stream()), reading, "has not the 1000 bytes"],
  [
    "a refusal that does not end",
    () => new Response(endless().body, { status: 403 }),
    (place) => place.remove(name),
    "it responded with status 403",
  ],
  [
    "a refusal of many words",
    () => new Response(`<Code>${"A".repeat(200)}</Code>`, { status: 403 }),
    listing,
    `cannot be listed: ${"A".repeat(200)}.`,
  ],
  ["a compressed page", gzipped, listing, "did not respond with a list"],
];

test.each(hostile)("%s is refused, and little of it is read", async (_, answer, ask, words) => {
  given.bytes = 0;
  using server = Bun.serve({ port: 0, fetch: answer });
  const place = bucketPlace(s3.address, { ...access, endpoint: server.url.origin });
  expect(await said(ask(place))).toContain(words);
  expect(given.bytes).toBeLessThan(64 * 1024 * 1024);
});

test("nothing of a request goes where the bucket redirects to", async () => {
  let elsewhere = 0;
  using thief = Bun.serve({ port: 0, fetch: () => new Response(`${(elsewhere += 1)}`) });
  for (const status of [301, 302, 303, 307, 308]) {
    const headers = { location: thief.url.href };
    using server = Bun.serve({ port: 0, fetch: () => new Response("", { status, headers }) });
    const place = bucketPlace(s3.address, { ...access, endpoint: server.url.origin });
    for (const work of [
      () => place.list(),
      () => place.sizeOf(name),
      () => deliver(place, name, file),
      () => place.read(name, 1, (content) => new Response(content).text()),
      () => place.remove(name),
    ]) {
      expect(await said(work())).toContain("sends its callers to another address");
    }
  }
  expect(elsewhere).toBe(0);
});

test.each([
  ["one line", "age-encryption.org/v1\n-> X25519 "],
  ["many lines", `age-encryption.org/v1\n${"-> X25519 a\naaaa\n".repeat(9_000)}`],
])("an age header that does not end is refused at its bound: %s", async (_, beginning) => {
  given.bytes = 0;
  const content = endless(beginning).body as ReadableStream<Uint8Array>;
  const reading = new Response(content.pipeThrough(headed(70_000))).text();
  expect(await said(reading)).toContain("no header of age in its first 70000 bytes");
  expect(given.bytes).toBeLessThan(1024 * 1024);
});
