import { afterEach, describe, expect, test } from "bun:test";
import {
  type FetchLimits,
  fetchList,
  isNeverAsked,
  isSpecialAddress,
  NoList,
  presetOf,
} from "../../../src/features/sources/fetch.ts";
import { UnreadableInput } from "../../../src/features/import/read/input.ts";
import { partialReason } from "../../../src/features/import/read/json.ts";
import { prepare } from "../../../src/features/import/understand/propose.ts";
import { brief } from "../import/helpers.ts";

const servers: { stop(force: boolean): unknown }[] = [];
afterEach(() => servers.splice(0).forEach((server) => void server.stop(true)));

function source(respond: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: respond });
  servers.push(server);
  return `http://127.0.0.1:${server.port}`;
}

const limits: FetchLimits = { allowPrivate: true, clock: () => 0 };

const fetched = (url: string, changes: Partial<FetchLimits> = {}) =>
  fetchList({ url }, { ...limits, ...changes });

/** Why an address gives no list. */
async function why(url: string, changes: Partial<FetchLimits> = {}): Promise<string> {
  const failed = await fetched(url, changes).catch((error: unknown) => error);
  if (!(failed instanceof UnreadableInput)) throw new Error("the fetch brought a list");
  const retryAfterMs = failed instanceof NoList ? failed.retryAfterMs : undefined;
  return `${failed.message}, again in ${retryAfterMs}`;
}

const text = async (outcome: ReturnType<typeof fetchList>): Promise<string> => {
  const found = await outcome.catch((error: Error) => error.message);
  return typeof found === "string" ? found : new TextDecoder().decode(found.bytes);
};

/** The list of a preset at an address, or why there is none. */
const ofPreset = (preset: string | null, url: string, secret = "secret") =>
  text(fetchList({ preset, account: "ab/12", url, secret }, limits));

/** A source that notes what it is asked for, and with which secret. */
function noting(respond: (url: URL) => Response, seen: string[] = []) {
  const url = source(async (request) => {
    const at = new URL(request.url);
    const secret = request.headers.get("Authorization") ?? request.headers.get("X-Api-Key") ?? "";
    seen.push(`${at.pathname}${at.search} ${secret}${await request.text()}`);
    return respond(at);
  });
  return { seen, url };
}

describe("an address", () => {
  const clouds =
    "169.254.169.254 fe80::1 ::ffff:169.254.169.254 2002:a9fe:a9fe::1 fd00:ec2::254 64:ff9b::a9fe:a9fe 100.100.100.200 192.0.0.192";
  const privates =
    "10.1.2.3 127.0.0.1 100.64.0.1 ::1 fd00::1 ::ffff:10.0.0.1 64:ff9b::a00:1 ::ffff:0:127.0.0.1";
  const publics = "93.184.216.34 2606:2800:220:1:248:1893:25c8:1946 172.32.0.1";

  test.each([
    ["of a cloud is never asked", clouds, true, true],
    ["on a private network is special", privates, false, true],
    ["on the internet is public", publics, false, false],
  ])("%s", async (_what, all, isNever, isSpecial) => {
    for (const each of all.split(" ")) {
      const is = [isNeverAsked(each), isSpecialAddress(each)];
      expect([each, ...is]).toEqual([each, isNever, isSpecial]);
      const host = each.includes(":") ? `[${each}]` : each;
      if (!isNever) continue;
      expect(await why(`http://${host}/latest/meta-data/`)).toContain(
        "an address where no list is",
      );
    }
  });

  test.each([
    ["http://example.org/list.csv", "https://, not http:"],
    ["file:///etc/passwd", "https://, not file:"],
    ["https://nowhere.invalid/list.csv", "the host nowhere.invalid was not found"],
    ["data:text/csv,Name", "https://, not data:"],
    ["https://kim:secret@example.org/list.csv", "user name or a password"],
    ["https://localhost/list", "on a private network"],
    ["https://[::ffff:7f00:1]/", "on a private network"],
  ])("%s is refused: %s", async (url, expected) => {
    expect(await why(url, { allowPrivate: false })).toContain(expected);
  });

  test("on a private network is refused before it is asked", async () => {
    let asked = 0;
    const url = source(() => new Response(`${asked++}`)).replace("http:", "https:");
    expect(await why(url, { allowPrivate: false })).toContain("on a private network");
    expect(asked).toBe(0);
  });
});

describe("a page", () => {
  test.each([
    [new Response("", { status: 200 }), "returned nothing"],
    [new Response("ERROR: Invalid API Key"), "refused: Invalid API Key"],
    [new Response("no", { status: 401 }), "refused the credential"],
    [new Response("no", { status: 404 }), "404 instead of a list"],
    [new Response("no", { status: 500 }), "failed (status 500)"],
    [new Response("no", { status: 429 }), "asked to wait"],
  ])("that is no list is a problem", async (response, expected) => {
    expect(await why(source(() => response))).toContain(expected);
  });

  test.each([
    ["120", 120_000],
    ["Thu, 01 Jan 1970 01:00:00 GMT", 3_600_000],
    ["999999999", 86_400_000],
    ["soon", 0],
  ])("with Retry-After: %s waits for %s", async (header, expected) => {
    const headers = { "Retry-After": header };
    const found = await why(source(() => new Response("", { status: 503, headers })));
    expect(found).toEndWith(`, again in ${expected}`);
  });

  test("has a bound for what it unpacks to", async () => {
    const bomb = Bun.gzipSync(new Uint8Array(8 * 1024 * 1024));
    const url = source(() => new Response(bomb, { headers: { "Content-Encoding": "gzip" } }));
    expect(await why(url, { bytesMax: 1024 * 1024 })).toContain("more than 64 MiB");
  });

  test("that does not end is given up, whole or in its middle", async () => {
    const never = source(() => new Promise(() => {}));
    const drip = source(
      () => new Response(new ReadableStream({ pull: (c) => (c.enqueue("a"), Bun.sleep(20)) })),
    );
    for (const url of [never, drip]) {
      expect(await why(url, { pageMaxMs: 300 })).toContain("in time");
    }
  });

  test("of a source that is down is a problem", async () => {
    const url = source(() => new Response());
    await servers.pop()?.stop(true);
    expect(await why(url)).toContain("could not be reached");
  });
});

describe("a name with several addresses", () => {
  const resolving = (...addresses: string[]) => ({ resolve: async () => addresses });
  const named = (url: string) => url.replace("127.0.0.1", "list.test");
  const asked = (url: string, limited: Partial<FetchLimits>) => text(fetched(named(url), limited));

  test("is asked at the next one if an address is dead or silent", async () => {
    const url = source(() => new Response("Name"));
    expect(await asked(url, resolving("127.0.0.9", "127.0.0.1"))).toBe("Name");
    const port = Number(new URL(url).port);
    const silent = Bun.listen({ hostname: "127.0.0.8", port, socket: { data() {} } });
    servers.push(silent);
    const patience = { ...resolving("127.0.0.8", "127.0.0.1"), addressMaxMs: 50 };
    expect(await asked(url, patience)).toBe("Name");
  });

  test("is refused if any of them may not be asked", async () => {
    let count = 0;
    const url = source(() => new Response(`${count++}`));
    const found = await why(named(url), resolving("127.0.0.1", "169.254.169.254"));
    expect(found).toContain("an address where no list is");
    expect(count).toBe(0);
  });
});

describe("a redirect", () => {
  test.each([
    [null, "Bearer s"],
    ["shelterluv", "s"],
    ["asm", "key=s"],
  ] as const)("of %p is followed, without secrets at another origin", async (preset, secret) => {
    const seen: string[] = [];
    const other = noting(() => new Response("Name"), seen).url;
    const { url } = noting(
      ({ pathname }) => Response.redirect(pathname === "/second" ? other : "/second", 307),
      seen,
    );
    await ofPreset(preset, url, "s");
    expect(seen.map((each) => each.replace(/^\S+ /, ""))).toEqual([secret, secret, ""]);
  });

  test.each([
    ["file:///etc/passwd", "must start with"],
    ["http://169.254.169.254/", "an address where no list is"],
  ])("to %s is refused", async (Location, expected) => {
    const url = source(() => new Response(null, { status: 302, headers: { Location } }));
    expect(await why(url)).toContain(expected);
  });

  test("ends after five", async () => {
    let count = 0;
    const url = source(() => Response.redirect(`/${count++}`, 302));
    expect(await why(url)).toContain("redirected more than");
    expect(count).toBe(6);
  });
});

describe("a preset", () => {
  const json = (value: unknown) => Response.json(value);
  const numbers = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

  test("of ASM sends its credential in the body", async () => {
    const { seen, url } = noting(() => new Response("[]"));
    for (const secret of ["key1", "kim:pass:word"]) await ofPreset("asm", url, secret);
    const query = "/?account=ab%2F12&method=json_adoptable_animals";
    expect(seen).toEqual([`${query} key=key1`, `${query} username=kim&password=pass%3Aword`]);
  });

  const shelterluv = (ids: number[], total = ids.length) =>
    noting(({ searchParams }) => {
      const offset = Number(searchParams.get("offset"));
      const animals = ids.slice(offset, offset + 100).map((id) => ({ "Internal-ID": `${id}` }));
      return json({ success: 1, animals, has_more: offset + 100 < ids.length, total_count: total });
    });

  test("of Shelterluv pages to the end", async () => {
    const { seen, url } = shelterluv(numbers(250));
    const whole = JSON.parse(await ofPreset("shelterluv", url));
    expect([whole.animals.length, whole.has_more, seen.length]).toEqual([250, false, 3]);
    expect(seen[0]).toBe("/?status_type=publishable&limit=100&offset=0 secret");
  });

  const failing = (value: unknown) => source(() => json(value));
  test.each([
    ["less than its total", () => shelterluv(numbers(90), 91).url, "91 animals and returned 90"],
    ["an animal twice", () => shelterluv([...numbers(99), 1]).url, "100 animals and returned 99"],
    ["no animals", () => shelterluv([]).url, "no animals"],
    ["a failure", () => failing({ success: 0, error_message: "Bad key" }), "refused: Bad key"],
    ["animals beside a failure", () => failing({ success: false, animals: [{}] }), "no list"],
    ["no list", () => failing({ success: 1 }), "no list"],
    ["pages without an end", () => failing({ success: 1, animals: [{}], has_more: true }), "pages"],
  ])("with %s is a problem", async (_what, url, expected) => {
    expect(await ofPreset("shelterluv", url())).toContain(expected);
  });

  test("of RescueGroups pages by its count, and keeps what is included", async () => {
    const { seen, url } = noting(({ searchParams }) => {
      const id = searchParams.get("page");
      const included = [{ type: "species", id }];
      return json({ data: [{ id }], included, meta: { count: 2, pages: 2 } });
    });
    const whole = JSON.parse(await ofPreset("rescuegroups", url));
    expect(whole).toMatchObject({ data: [{ id: "1" }, { id: "2" }] });
    expect(whole.included).toHaveLength(2);
    // What was said of its pages is not so of the whole.
    expect(partialReason(whole, 2)).toBeUndefined();
    expect(seen[0]).toMatch(/^\/ab%2F12\/animals\/search\/available\?.*&page=1 secret$/);
  });

  test("without a total pages while pages are full", async () => {
    const { seen, url } = noting(({ searchParams }) => {
      const from = 100 * (Number(searchParams.get("page")) - 1);
      const data = numbers(200).slice(from, from + 100);
      return json({ data: data.map((id) => ({ id })), meta: { pages: 2 } });
    });
    expect(JSON.parse(await ofPreset("rescuegroups", url)).data).toHaveLength(200);
    expect(seen).toHaveLength(3);
  });

  test("of Adopt-a-Pet pages by numbers to its total, and all of its animals are available", async () => {
    const pets = numbers(150).map((id) => ({ pet_id: id, pet_name: `P${id}`, species: "dog" }));
    const { seen, url } = noting(({ searchParams: at }) => {
      const part = pets.slice(Number(at.get("start_number")) - 1, Number(at.get("end_number")));
      return json({ status: "ok", returned_pets: part.length, total_pets: 150, pets: part });
    });
    const bytes = new TextEncoder().encode(await ofPreset("adoptapet", url));
    const asked = "/?key=secret&v=2&output=json&shelter_id=ab%2F12";
    expect(seen).toEqual([
      `${asked}&start_number=1&end_number=100 `,
      `${asked}&start_number=101&end_number=200 `,
    ]);
    const known = { ...presetOf("adoptapet")?.reading, source: "north" };
    const { outcomes } = (await prepare(bytes, known)).understanding;
    expect(outcomes).toHaveLength(150);
    expect(outcomes.slice(0, 1).map(brief)).toEqual(["1 P1 / dog / available [north:1]"]);
    const failure = { status: "fail", error: { code: 401, msg: "invalid_key" } };
    expect(await ofPreset("adoptapet", failing(failure))).toContain("refused: invalid_key");
  });
});
