/** What the console's listener says of a request, and what every answer says to a browser. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { permit } from "../../../src/features/console/reach.ts";
import { paced, readForm, receiveFile } from "../../../src/features/console/body.ts";
import { assetPaths } from "../../../src/features/console/pages/assets.ts";
import { loadConfig } from "../../../src/config.ts";
import { AppError } from "../../../src/domain/errors.ts";
import { refusalLog } from "../../../src/features/console/run.ts";
import { TestClock } from "../../helpers/app.ts";
import { logFile } from "../../helpers/log-file.ts";
import { asking } from "../../helpers/console-pages.ts";

const fixtures = join(import.meta.dir, "../../fixtures/tls");
const flagsOf: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "with HTTPS": { "tls-cert": join(fixtures, "first.crt"), "tls-key": join(fixtures, "first.key") },
  "behind a proxy": { "trusted-proxy": "127.0.0.1" },
};

test.each([
  ["203.0.113.9:8090", "in plain HTTP", "refused"],
  ["203.0.113.9:8090", "with HTTPS", "silent"],
  ["203.0.113.9:8090", "behind a proxy", "silent"],
  ["192.168.1.5:8090", "in plain HTTP", "warned"],
  ["192.168.1.5:8090", "with HTTPS", "silent"],
  ["192.168.1.5:8090", "behind a proxy", "silent"],
  ["127.0.0.1:8090", "in plain HTTP", "silent"],
  ["localhost:8090", "in plain HTTP", "silent"],
] as const)("at %s %s the console is %s", async (address, how, expected) => {
  const { config } = loadConfig({ ...flagsOf[how] }, {}, []);
  const warnings: string[] = [];
  const [host = ""] = address.split(":");
  const permitted = await permit(config, host, (text) => warnings.push(text)).catch(
    (error: unknown) => {
      expect(error).toMatchObject({ kind: "invalid_request" });
      return "refused";
    },
  );
  expect(permitted ?? (warnings.length > 0 ? "warned" : "silent")).toBe(expected);
});

/** Whose body it is. */
const sender = { address: () => "127.0.0.1", limitTime: () => undefined };

test("a file that cannot be written ends its upload with the reason, which is the service's", async () => {
  const head =
    '--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n' +
    "Content-Type: text/csv\r\n\r\n";
  let sent = 0;
  const request = new Request("http://127.0.0.1/import", {
    method: "POST",
    headers: { "content-type": "multipart/form-data; boundary=b" },
    body: new ReadableStream({
      pull(controller) {
        sent += 1;
        controller.enqueue(sent === 1 ? new TextEncoder().encode(head) : new Uint8Array(65_536));
      },
    }),
  });
  const upload = receiveFile({ request, sender }, "/nowhere/a.csv", new AbortController().signal);
  expect(await upload.catch((error: unknown) => error)).toMatchObject({ code: "ENOENT" });
});

test.each(["", "; boundary=", `; boundary=${"b".repeat(253)}`])(
  "a file in multipart/form-data%s is refused in words",
  async (rest) => {
    const request = new Request("http://127.0.0.1/import", {
      method: "POST",
      headers: { "content-type": `multipart/form-data${rest}` },
      body: "--b\r\n",
    });
    const upload = receiveFile({ request, sender }, "/nowhere/a.csv", new AbortController().signal);
    expect(await upload.catch((error: unknown) => error)).toBeInstanceOf(AppError);
  },
);

const mebibyte = 2 ** 20;

test.each([
  ["may pause for half a minute", 0, 29_999, "goes on"],
  ["that came no further then ends", 0, 30_001, "ended"],
  ["with 16 kB a second goes on", 16_000 * 60, 90_000, "goes on"],
  ["with less ends", 16_000 * 60 - 1, 90_001, "ended"],
  ["has ten minutes", 64 * mebibyte, 600_000, "goes on"],
  ["has no more", 64 * mebibyte, 600_001, "ended"],
] as const)("a file that %s", async (_what, bytes, ms, expected) => {
  let nowMs = 0;
  let looks = 0;
  const looked = Promise.withResolvers<"goes on">();
  const clock = () => {
    // The first is its start; the second look finds what the first one ended.
    if ((looks += 1) > 3) looked.resolve("goes on");
    return nowMs;
  };
  const body = new PassThrough({ highWaterMark: 2 * bytes });
  const ended = new Promise<"ended">((resolve) => body.on("close", () => resolve("ended")));
  using _ = paced(body, new AbortController().signal, clock, 1);
  body.write(Buffer.alloc(bytes));
  nowMs = ms;
  expect(await Promise.race([ended, looked.promise])).toBe(expected);
});

/** Sends a form that does not end before `end` is called. */
function unfinished(address: string, limits: number[] = []) {
  const ended = Promise.withResolvers<undefined>();
  const body = new ReadableStream({
    async start(controller) {
      await ended.promise;
      controller.close();
    },
  });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const request = new Request("http://127.0.0.1/animals", { method: "POST", headers, body });
  const limitTime = (seconds: number) => void limits.push(seconds);
  const form = readForm({ request, sender: { address: () => address, limitTime } });
  return { form, end: () => ended.resolve(undefined) };
}

test.each([
  ["64 forms may be unfinished, and then nobody's is read", 64, (at: number) => `192.0.2.${at}`],
  ["8 forms of one address may be unfinished", 8, () => "192.0.2.1"],
  ["8 forms of one network may be, where each has many", 8, (at: number) => `2001:db8::${at}`],
] as const)("%s", async (_what, count, address) => {
  const open = Array.from({ length: count }, (_, at) => unfinished(address(at)));
  const refused = await unfinished(address(100)).form.catch((error: unknown) => error);
  expect(refused).toMatchObject({ kind: "unavailable", code: "crowded" });
  for (const { end } of open) end();
  await Promise.all(open.map(({ form }) => form));
});

test("a form has 30 seconds, and its connection then the usual time", async () => {
  const limits: number[] = [];
  const { form, end } = unfinished("192.0.2.1", limits);
  expect(limits).toEqual([30]);
  end();
  await form;
  expect(limits).toEqual([30, 80]);
});

const ask = asking({
  actions: { clock: () => 0 },
  report: (error) => expect(error).toBeUndefined(),
  refused: () => undefined,
});

test("a file of the program is kept by the browser, as its path changes with its bytes", async () => {
  for (const path of Object.values(assetPaths)) {
    expect(path).toMatch(/^\/assets\/\w+-[0-9a-f]{12}\.\w+$/);
    const { headers } = await ask(path);
    expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  }
  expect((await ask("/assets/style.css")).status).toBe(401);
});

test("of the refusals in a minute the first has a line, and their count has one", async () => {
  const clock = new TestClock();
  using file = logFile({ clock: clock.read, level: "warn" });
  const flooded = asking({
    actions: { clock: clock.read },
    report: (error) => expect(error).toBeUndefined(),
    refused: refusalLog(file.log),
  });
  const foreign = { headers: { host: "evil.example" } };
  for (let at = 0; at < 50; at += 1) await flooded("/animals", foreign);
  clock.advance(60_000);
  expect((await flooded("/animals", foreign)).status).toBe(421);
  await file.log.close();
  const lines = file.text().trimEnd().split("\n");
  const said = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const first = { level: "warn", message: expect.stringContaining(" was refused: ") };
  expect(said).toMatchObject([
    first,
    { level: "warn", message: "counts", counts: { refused: 50 } },
    first,
    { message: "counts", counts: { refused: 1 } },
  ]);
});

test("every response keeps a page to itself: no frame, no stranger's script, no copy", async () => {
  const responses = [
    await ask("/animals"),
    await ask("/language/es", { method: "POST" }),
    await ask("/", { headers: { host: "evil.example" } }),
  ];
  expect(responses.map(({ status }) => status)).toEqual([401, 303, 421]);
  for (const { headers } of responses) {
    expect(Object.fromEntries(headers)).toMatchObject({
      "cache-control": "no-store",
      "content-security-policy":
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; " +
        "img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
        "require-trusted-types-for 'script'; trusted-types rehome",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "same-origin",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    });
  }
});
