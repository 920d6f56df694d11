/**
 * The pure rules of the console: who can reach an address, secrets, tries, hosts and origins,
 * languages.
 */
import { describe, expect, test } from "bun:test";
import { Form, readForm } from "../../../src/features/console/body.ts";
import { exposureOf, reachableOrigin } from "../../../src/features/console/reach.ts";
import { isPersonName, isSecret } from "../../../src/features/console/people.ts";
import {
  type FormsDone,
  Recent,
  once,
  isKnownHost,
  isOpenable,
  isOwnOrigin,
} from "../../../src/features/console/visit.ts";
import { languageFor } from "../../../src/features/console/words/index.ts";
import { asking } from "../../helpers/console-pages.ts";

test.each([
  ["127.0.0.1", "loopback"],
  ["::1", "loopback"],
  ["::ffff:127.0.0.1", "loopback"],
  ["10.1.2.3", "private"],
  ["172.31.255.255", "private"],
  ["192.168.0.10", "private"],
  ["fd00::1", "private"],
  ["fe80::1%eth0", "private"],
  ["2001:db8::1", "public"],
  ["console.example.org", undefined],
] as const)("who can reach an address %s: %s", (address, expected) =>
  expect(exposureOf(address)).toBe(expected),
);

test.each([
  ["http://0.0.0.0:8090", ["127.0.0.1", "fd00::1", "192.168.1.5"], "http://192.168.1.5:8090"],
  ["https://[::]:8090", ["127.0.0.1", "10.0.0.2"], "https://10.0.0.2:8090"],
  ["http://0.0.0.0:8090", ["127.0.0.1", "203.0.113.9"], "http://127.0.0.1:8090"],
  // Under systemd the console may not ask for them. A command may, which prints the link.
  ["http://0.0.0.0:8090", [], "http://0.0.0.0:8090"],
  ["http://192.168.1.7:8090", ["192.168.1.5"], "http://192.168.1.7:8090"],
  ["https://console.example.org", ["192.168.1.5"], "https://console.example.org"],
])(
  "where people open a console that listens on %s, with the addresses %p: %s",
  (origin, own, expected) => expect(reachableOrigin(origin, own)).toBe(expected),
);

test.each(["", "short", `${"a".repeat(43)}=`, `${"a".repeat(42)}/`, "a".repeat(44)])(
  "%p is no secret",
  (text) => expect(isSecret(text)).toBe(false),
);

test.each(["Ana\r\nRoot", "Ana\u202Etoor", "\u0007Ana", "Ana\u200B", "\u200B"])(
  "%j is no name of a person: lists and histories could not show it as it is",
  (name) => expect(isPersonName(name)).toBe(false),
);

describe("hosts", () => {
  const names = ["shelter-pi", "shelter-pi.local"];
  test.each([
    "127.0.0.1:8090",
    "[::1]:8090",
    "localhost",
    "console.localhost",
    "192.168.1.5",
    "shelter-pi.local:8090",
    "shelter-pi.local.",
  ])("%s is known", (host) => expect(isKnownHost(host, names, false)).toBe(true));
  test.each([
    null,
    "",
    "evil.example",
    "evil.example:8090",
    "localhost.evil.example",
    "a b",
    "x@y",
    ..."@/\\?#".split("").map((sign) => `127.0.0.1${sign}127.0.0.1`),
  ])("%p is not", (host) => expect(isKnownHost(host, names, false)).toBe(false));
  test("any name is, where a certificate or a proxy vouches for it", () => {
    expect(isKnownHost("console.example.org", names, true)).toBe(true);
    expect(isKnownHost("", names, true)).toBe(false);
  });
});

describe("origins", () => {
  const own = ["http://127.0.0.1:8090"];
  test.each([
    [{ origin: "http://127.0.0.1:8090" }, true],
    [{ origin: "http://127.0.0.1:8090", "sec-fetch-site": "same-origin" }, true],
    [{}, false],
    [{ origin: "null" }, false],
    [{ origin: "null", "sec-fetch-site": "same-origin" }, false],
    [{ origin: "http://127.0.0.1:8091" }, false],
    [{ origin: "http://127.0.0.1:8090", "sec-fetch-site": "cross-site" }, false],
    [{ origin: "http://127.0.0.1:8090", "sec-fetch-site": "same-site" }, false],
  ] as const)("a change with %o: %p", (entries, expected) =>
    expect(isOwnOrigin(new Headers(entries), own)).toBe(expected),
  );
  const fetched = (site: string, mode: string, dest: string) =>
    new Headers({ "sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": dest });
  test.each([
    [new Headers(), true],
    [fetched("none", "navigate", "document"), true],
    // Such as a page that a person saves.
    [fetched("none", "no-cors", "empty"), true],
    [fetched("cross-site", "navigate", "document"), true],
    [fetched("cross-site", "navigate", "iframe"), false],
    [fetched("cross-site", "no-cors", "image"), false],
    [fetched("cross-site", "no-cors", "document"), false],
    [fetched("same-site", "cors", "empty"), false],
  ])("a page with %o: %p", (headers, expected) => expect(isOpenable(headers)).toBe(expected));
});

describe("a form", () => {
  const read = (body: URLSearchParams) => {
    const request = new Request("http://127.0.0.1/animals/several", { method: "POST", body });
    return readForm({
      request,
      sender: { bucket: () => "127.0.0.1", limitTime: () => undefined },
    });
  };
  const fields = (count: number, value: string) =>
    new URLSearchParams(Array.from({ length: count }, (): [string, string] => ["id", value]));

  test("has room for 2,000 animals, whatever their ids", async () => {
    expect((await read(fields(2_000, "9223372036854775807"))).getAll("id")).toHaveLength(2_000);
  });
  test("has at most 2,100 fields and 64 KiB", async () => {
    for (const body of [fields(2_101, ""), fields(1, "x".repeat(65_536))]) {
      const refused = await read(body).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: "formTooLarge" });
    }
  });
});

describe("plain HTTP", () => {
  const ask = asking({
    // Nothing more of it is asked before somebody is let in.
    actions: { clock: () => 0 },
  });
  test.each([
    ["203.0.113.7", false, 403],
    ["203.0.113.7", true, 401],
    ["192.168.1.5", false, 401],
  ] as const)("from %s, secure %p: %i", async (address, isSecure, status) => {
    expect((await ask("/animals", { address, isSecure })).status).toBe(status);
  });

  test("is for the proxy itself to take, and not for others because there is one", async () => {
    const forwarded = { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" };
    const from = async (address: string) =>
      (await ask("/", { address, headers: forwarded })).status;
    expect(await from("10.0.0.9")).toBe(401);
    expect(await from("203.0.113.8")).toBe(403);
    // Neither does a name count that the proxy alone vouches for.
    const headers = { ...forwarded, host: "console.example.org" };
    expect((await ask("/", { address: "10.0.0.9", headers })).status).toBe(401);
    expect((await ask("/", { address: "192.168.1.5", headers })).status).toBe(421);
  });
});

test.each([
  [undefined, null, "en"],
  [undefined, "es-MX,es;q=0.9,en;q=0.8", "es"],
  [undefined, "de", "en"],
  [undefined, "es;q=0", "en"],
  ["xx", "es", "es"],
  ["__proto__", "en", "en"],
] as const)("languages chosen %p, accepted %p: %s", (chosen, accepted, expected) =>
  expect(languageFor(chosen, accepted)).toBe(expected),
);

test("a form of one page and person is done once, one that was refused again, the oldest too", async () => {
  const done: FormsDone = new Recent(2);
  const person = { id: "a", name: "A", role: "staff" } as const;
  let count = 0;
  const send = (fields: Record<string, string>, who: string = person.id, path = "/animals/new") =>
    once(done, { ...person, id: who }, path, new Form(fields), async () =>
      fields["name"] === "" ? undefined : `/${(count += 1)}`,
    );
  expect([await send({ name: "x" }), await send({ name: "x" })]).toEqual(["/1", "/1"]);
  expect(await send({ name: "y" })).toBe("/2");
  expect([await send({ name: "" }), await send({ name: "" })]).toEqual([undefined, undefined]);
  expect(await send({ name: "x" }, "b")).toBe("/3");
  expect(await send({ name: "x" }, "b", "/categories")).toBe("/4");
  expect(await send({ name: "x" })).toBe("/5");
});
