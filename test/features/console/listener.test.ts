/** What the console's listener says of a request, and what every answer says to a browser. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { bucketOf } from "../../../src/domain/address.ts";
import { permit } from "../../../src/features/console/reach.ts";
import { readFile, readForm } from "../../../src/features/console/body.ts";
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
  ["192.168.1.5:8090", "in plain HTTP", "warned"],
  ["192.168.1.5:8090", "behind a proxy", "silent"],
  ["127.0.0.1:8090", "in plain HTTP", "silent"],
  ["0.0.0.0:8090", "in plain HTTP", "warned"],
  ["pi.lan:8090", "in plain HTTP", "warned"],
] as const)("at %s %s the console is %s", (address, how, expected) => {
  const { config } = loadConfig({ ...flagsOf[how] }, {}, []);
  const warnings: string[] = [];
  const [host = ""] = address.split(":");
  const work = () => permit(config, host, (text) => warnings.push(text));
  if (expected === "refused") return expect(work).toThrow("which the internet can reach");
  work();
  expect(warnings).toHaveLength(expected === "warned" ? 1 : 0);
});

/** Whose body it is. */
const sender = { bucket: () => "127.0.0.1", limitTime: () => undefined };

test.each(["", "; boundary="])(
  "a file in multipart/form-data%s is refused in words",
  async (rest) => {
    const request = new Request("http://127.0.0.1/import", {
      method: "POST",
      headers: { "content-type": `multipart/form-data${rest}` },
      body: "--b\r\n",
    });
    const upload = readFile({ request, sender });
    expect(await upload.catch((error: unknown) => error)).toBeInstanceOf(AppError);
  },
);

test("a file of 16 MiB is read, and a larger one is refused while it arrives", async () => {
  const mebibyte = 2 ** 20;
  const sending = (bytes: number) => {
    const body = new FormData();
    body.set("file", new File([new Uint8Array(bytes)], "C:\\lists\\a.csv"));
    return readFile({
      request: new Request("http://127.0.0.1/", { method: "POST", body }),
      sender,
    });
  };
  const { name, bytes } = await sending(16 * mebibyte);
  expect([name, bytes.length]).toEqual(["a.csv", 16 * mebibyte]);
  const refused = await sending(17 * mebibyte).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "tooLarge" });
});

/** Sends a form that does not end before `end` is called. */
function unfinished(address: string) {
  const ended = Promise.withResolvers<undefined>();
  const body = new ReadableStream({
    async start(controller) {
      await ended.promise;
      controller.close();
    },
  });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const request = new Request("http://127.0.0.1/animals", { method: "POST", headers, body });
  const form = readForm({ request, sender: { ...sender, bucket: () => bucketOf(address) ?? "" } });
  return { form, end: () => ended.resolve(undefined) };
}

test.each([
  ["64 forms may be unfinished, and then nobody's is read", 64, (at: number) => `192.0.2.${at}`],
  ["8 forms of one network may be, where each has many", 8, (at: number) => `2001:db8::${at}`],
] as const)("%s", async (_what, count, address) => {
  const open = Array.from({ length: count }, (_, at) => unfinished(address(at)));
  const refused = await unfinished(address(100)).form.catch((error: unknown) => error);
  expect(refused).toMatchObject({ kind: "unavailable", code: "crowded" });
  for (const { end } of open) end();
  await Promise.all(open.map(({ form }) => form));
});

const ask = asking({ actions: { clock: () => 0 } });

test("of the refusals in a minute the first has a line, and their count has one", async () => {
  const clock = new TestClock();
  using file = logFile(clock.read, "json", "warn");
  const flooded = asking({
    actions: { clock: clock.read },
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
