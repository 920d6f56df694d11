/**
 * The pure rules of the console: who can reach an address, secrets, tries, hosts and origins,
 * languages.
 */
import { describe, expect, test } from "bun:test";
import type { Desk } from "../../../src/features/console/desk.ts";
import { exposureOf, isUnspecified, widest } from "../../../src/features/console/exposure.ts";
import { Failures, failuresPerMinute } from "../../../src/features/console/failures.ts";
import { reachableOrigin } from "../../../src/features/console/reach.ts";
import { hashSecret, isSecret, newSecret } from "../../../src/features/console/secrets.ts";
import { TrafficMeter, TrafficTeller } from "../../../src/features/operate/traffic.ts";
import { Form, readForm } from "../../../src/features/console/web/forms.ts";
import { consoleHandler } from "../../../src/features/console/web/handler.ts";
import { isKnownHost, isOpenable, isOwnOrigin } from "../../../src/features/console/web/origin.ts";
import { router } from "../../../src/features/console/web/router.ts";
import { languageFor } from "../../../src/features/console/words/index.ts";
import { minuteMs } from "../../../src/domain/clock.ts";
import { until } from "../../helpers/until.ts";

describe("who can reach an address", () => {
  test.each([
    ["127.0.0.1", "loopback"],
    ["127.255.255.254", "loopback"],
    ["::1", "loopback"],
    ["::ffff:127.0.0.1", "loopback"],
    ["10.1.2.3", "private"],
    ["172.31.255.255", "private"],
    ["172.32.0.0", "public"],
    ["192.168.0.10", "private"],
    ["100.64.0.1", "private"],
    ["169.254.1.1", "private"],
    ["fd00::1", "private"],
    ["fe80::1%eth0", "private"],
    ["8.8.8.8", "public"],
    ["2001:db8::1", "public"],
    ["console.example.org", undefined],
  ] as const)("%s: %s", (address, expected) => expect(exposureOf(address)).toBe(expected));

  test("all addresses are as public as the machine", () => {
    expect(isUnspecified("0.0.0.0")).toBe(true);
    expect(isUnspecified("::")).toBe(true);
    expect(widest(["0.0.0.0"], ["127.0.0.1", "192.168.1.5"])).toBe("private");
    expect(widest(["0.0.0.0"], ["127.0.0.1", "203.0.113.9"])).toBe("public");
    expect(widest(["0.0.0.0"], ["192.168.1.5", "2001:db8::1"])).toBe("private");
    expect(widest(["::"], ["192.168.1.5", "2001:db8::1"])).toBe("public");
    expect(widest(["127.0.0.1"], ["203.0.113.9"])).toBe("loopback");
    expect(widest(["192.168.1.5", "127.0.0.1"], [])).toBe("private");
  });

  test("what is not known is public", () => {
    expect(widest([], [])).toBe("public");
    expect(widest(["nonsense"], [])).toBe("public");
  });
});

describe("where people open a console that listens on", () => {
  test.each([
    ["http://0.0.0.0:8090", ["127.0.0.1", "fd00::1", "192.168.1.5"], "http://192.168.1.5:8090"],
    ["https://[::]:8090", ["127.0.0.1", "10.0.0.2"], "https://10.0.0.2:8090"],
    ["http://0.0.0.0:8090", ["127.0.0.1", "203.0.113.9"], "http://127.0.0.1:8090"],
    // Under systemd the console may not ask for them. A command may, which prints the link.
    ["http://0.0.0.0:8090", [], "http://0.0.0.0:8090"],
    ["http://192.168.1.7:8090", ["192.168.1.5"], "http://192.168.1.7:8090"],
    ["https://console.example.org", ["192.168.1.5"], "https://console.example.org"],
  ])("%s, with the addresses %p: %s", (origin, own, expected) =>
    expect(reachableOrigin(origin, own)).toBe(expected),
  );
});

describe("secrets", () => {
  test("are 43 characters, and none is another", () => {
    const random = (count: number) => crypto.getRandomValues(new Uint8Array(count));
    const made = Array.from({ length: 200 }, () => newSecret(random));
    expect(made.every(isSecret)).toBe(true);
    expect(new Set(made).size).toBe(made.length);
    const [first, second] = made;
    if (first === undefined || second === undefined) throw new Error("none was made");
    expect(hashSecret(first)).toHaveLength(32);
    expect(Buffer.compare(hashSecret(first), hashSecret(second))).not.toBe(0);
  });

  test.each(["", "short", `${"a".repeat(43)}=`, `${"a".repeat(42)}/`, "a".repeat(44)])(
    "%p is none",
    (text) => expect(isSecret(text)).toBe(false),
  );
});

describe("wrong tries", () => {
  test("block an address until the minute ends, and nobody else", () => {
    let nowMs = 10 * minuteMs + 15_500;
    const failures = new Failures(() => nowMs);
    for (let i = 0; i < failuresPerMinute; i += 1) {
      expect(failures.blockedSeconds("192.0.2.1")).toBeUndefined();
      failures.note("192.0.2.1");
    }
    expect(failures.blockedSeconds("192.0.2.1")).toBe(45);
    expect(failures.blockedSeconds("192.0.2.2")).toBeUndefined();
    nowMs = 11 * minuteMs;
    expect(failures.blockedSeconds("192.0.2.1")).toBeUndefined();
  });

  test("count a /64 of IPv6 as one, and survive a clock that is set back", () => {
    let nowMs = 5 * minuteMs;
    const failures = new Failures(() => nowMs);
    for (let i = 0; i < failuresPerMinute; i += 1) failures.note(`2001:db8::${i}`);
    expect(failures.blockedSeconds("2001:db8::ffff")).toBeDefined();
    nowMs = 3 * minuteMs;
    expect(failures.blockedSeconds("2001:db8::ffff")).toBeDefined();
  });

  test("hold a bounded number of addresses", () => {
    const failures = new Failures(() => 0);
    for (let i = 0; i < failuresPerMinute; i += 1) failures.note("192.0.2.1");
    for (let i = 0; i < 9_999; i += 1) failures.note(`10.8.${i >> 8}.${i & 255}`);
    // It has its own count still.
    expect(failures.blockedSeconds("192.0.2.1")).toBeDefined();
    expect(failures.blockedSeconds("192.0.2.77")).toBeUndefined();
    for (let i = 0; i < 20_000; i += 1) failures.note(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
    expect(failures.blockedSeconds("192.0.2.77")).toBeDefined();
  });
});

describe("hosts", () => {
  const known = { names: ["shelter-pi", "shelter-pi.local"], isVouched: false };
  test.each([
    "127.0.0.1:8090",
    "[::1]:8090",
    "localhost",
    "console.localhost",
    "192.168.1.5",
    "shelter-pi.local:8090",
    "shelter-pi.local.",
  ])("%s is known", (host) => expect(isKnownHost(host, known)).toBe(true));
  test.each([
    null,
    "",
    "evil.example",
    "evil.example:8090",
    "localhost.evil.example",
    "a b",
    "x@y",
    ..."@/\\?#".split("").map((sign) => `127.0.0.1${sign}127.0.0.1`),
  ])("%p is not", (host) => expect(isKnownHost(host, known)).toBe(false));
  test("any name is, where a certificate or a proxy vouches for it", () => {
    expect(isKnownHost("console.example.org", { ...known, isVouched: true })).toBe(true);
    expect(isKnownHost("", { ...known, isVouched: true })).toBe(false);
  });
});

describe("origins", () => {
  const own = ["http://127.0.0.1:8090"];
  test.each([
    [{ origin: "http://127.0.0.1:8090" }, true],
    [{ origin: "http://127.0.0.1:8090", "sec-fetch-site": "same-origin" }, true],
    [{ "sec-fetch-site": "same-origin" }, true],
    [{}, false],
    [{ origin: "null" }, false],
    [{ origin: "null", "sec-fetch-site": "same-origin" }, false],
    [{ origin: "http://127.0.0.1:8091" }, false],
    [{ origin: "https://127.0.0.1:8090" }, false],
    [{ origin: "http://evil.example" }, false],
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

test("a form's text is without blanks around it, and exact where it is asked for", () => {
  const form = new Form(new URLSearchParams({ name: " Rex " }));
  expect([form.text("name"), form.exact("name"), form.text("other")]).toEqual(["Rex", " Rex ", ""]);
});

test("a form has room for 2,000 animals, whatever their ids", async () => {
  const ids = new URLSearchParams();
  for (let at = 0; at < 2_000; at += 1) ids.append("id", "9223372036854775807");
  const request = new Request("http://127.0.0.1/animals/several", { method: "POST", body: ids });
  expect((await readForm(request)).all("id")).toHaveLength(2_000);
});

describe("plain HTTP", () => {
  const ask = (address: string, isSecure: boolean, isBehindProxy = false) => {
    const hosts = { names: ["console.example.org"], isVouched: true };
    const handle = consoleHandler({
      // Nothing more of it is asked before somebody is let in.
      desk: { clock: () => 0 } as Desk,
      hosts,
      publicOrigin: undefined,
      isBehindProxy,
      report: (error) => expect(error).toBeUndefined(),
      warn: () => undefined,
    });
    const request = new Request("http://console.example.org/animals", {
      headers: { host: "console.example.org" },
    });
    return handle(request, {
      address,
      isSecure,
      bePatient: () => undefined,
    });
  };
  test.each([
    ["203.0.113.7", false, false, 403],
    ["2001:db8::1", false, false, 403],
    ["203.0.113.7", true, false, 401],
    ["203.0.113.7", false, true, 401],
    ["192.168.1.5", false, false, 401],
    ["127.0.0.1", false, false, 401],
  ] as const)("from %s, secure %p, behind a proxy %p: %i", async (...given) => {
    const [address, isSecure, isBehindProxy, status] = given;
    expect((await ask(address, isSecure, isBehindProxy)).status).toBe(status);
  });
});

test("a router finds the first route, its parameters, and the methods of a path", () => {
  const handle = () => new Response();
  const find = router([
    { method: "GET", path: "/animals/new", role: "staff", handle },
    { method: "GET", path: "/animals/:id", role: "staff", handle },
    { method: "POST", path: "/animals/:id/status", role: "staff", handle },
  ]);
  expect(find("GET", "/animals/new")).toMatchObject({ params: {} });
  expect(find("HEAD", "/animals/12")).toMatchObject({ params: { id: "12" } });
  expect(find("PUT", "/animals/12")).toEqual({ route: undefined, allowed: ["GET"] });
  expect(find("GET", "/animals/12/status")).toEqual({ route: undefined, allowed: ["POST"] });
  expect(find("GET", "/people/animals/new")).toEqual({ route: undefined, allowed: [] });
  expect(find("GET", "/animals/")).toEqual({ route: undefined, allowed: [] });
  expect(find("GET", "/animals/1/2")).toEqual({ route: undefined, allowed: [] });
});

describe("languages", () => {
  test.each([
    [undefined, null, "en"],
    [undefined, "es-MX,es;q=0.9,en;q=0.8", "es"],
    [undefined, "fr,en;q=0.5,es;q=0.6", "es"],
    [undefined, "de", "en"],
    [undefined, "es;q=0", "en"],
    ["es", "en", "es"],
    ["xx", "es", "es"],
    ["__proto__", "en", "en"],
  ] as const)("chosen %p, accepted %p: %s", (chosen, accepted, expected) =>
    expect(languageFor(chosen, accepted)).toBe(expected),
  );
});

test("what other processes tell is added, whichever of them it was", () => {
  let nowMs = 1_000 * minuteMs;
  const meter = new TrafficMeter(() => nowMs);
  const tellers = [0, 1].map(() => new TrafficTeller((answered) => meter.add(answered)));
  const answered = (by: number, status: number, durationMs: number) =>
    tellers[by]?.answered({ status, durationMs });
  for (let i = 0; i < 60; i += 1) answered(0, 200, 0.4);
  for (let i = 0; i < 39; i += 1) answered(1, 429, 3);
  answered(1, 500, 9_000);
  expect(meter.lastHour().requests).toBe(0);
  for (const teller of tellers) teller.tell();
  // What is told is not told again.
  for (const teller of tellers) teller.tell();
  const all = { requests: 100, refused: 39, failed: 1, p50Ms: 0.5, p99Ms: 3 };
  expect(meter.lastHour()).toMatchObject(all);
  answered(0, 503, 9_000);
  tellers[0]?.tell();
  expect(meter.lastHour()).toMatchObject({ requests: 101, failed: 2, p99Ms: 2_500 });
  nowMs += 60 * minuteMs;
  expect(meter.lastHour()).toMatchObject({ requests: 0, refused: 0, failed: 0, p99Ms: 0 });
});

test("the traffic of an hour: minutes go, quantiles are bounds", () => {
  let nowMs = 1_000 * minuteMs;
  const meter = new TrafficMeter(() => nowMs);
  const answered = (status: number, durationMs: number) => meter.answered({ status, durationMs });
  for (let i = 0; i < 98; i += 1) answered(200, 0.4);
  answered(429, 0.4);
  answered(503, 90);
  const busy = { requests: 100, refused: 1, failed: 1, p50Ms: 0.5, p99Ms: 0.5 };
  expect(meter.lastHour()).toMatchObject(busy);
  answered(200, 90);
  expect(meter.lastHour().p99Ms).toBe(100);
  nowMs += 59 * minuteMs;
  expect(meter.lastHour()).toMatchObject({ requests: 101, upSeconds: 59 * 60 });
  expect(meter.lastHour().perMinute.at(0)).toBe(101);
  nowMs += minuteMs;
  expect(meter.lastHour()).toMatchObject({ requests: 0, p50Ms: 0, p99Ms: 0 });
  nowMs -= 30 * minuteMs;
  answered(200, 1);
  expect(meter.lastHour().requests).toBe(1);
  nowMs += 31 * minuteMs;
  expect(meter.lastHour().perMinute.at(-2)).toBe(1);
  nowMs += 24 * 60 * minuteMs;
  expect(meter.lastHour().perMinute).toEqual(Array.from({ length: 60 }, () => 0));
});

test("what a process counts is told by itself, again and again, and nothing where there is none", async () => {
  const told: number[] = [];
  const teller = new TrafficTeller(({ requests }) => told.push(requests));
  teller.tell();
  for (const count of [1, 2]) {
    for (let i = 0; i < count; i += 1) teller.answered({ status: 200, durationMs: 1 });
    await until(() => told.length === count);
  }
  expect(told).toEqual([1, 2]);
});
