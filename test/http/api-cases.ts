/**
 * The API as a table: what is sent, in this order on an empty store, and what must come back. It
 * runs in process and over sockets.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

interface ApiCase {
  readonly what: string;
  readonly path: string;
  readonly method?: string;
  /** Whose key is sent, or the whole header; nothing for a caller without one. */
  readonly as?: keyof Place["secrets"] | "";
  readonly authorization?: (secret: string) => string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly status: number;
  /** Headers of the answer. */
  readonly sent?: Readonly<Record<string, string | RegExp | null>>;
  /** The text of its body. */
  readonly text?: string;
  readonly message?: string;
}

const codes: Readonly<Record<number, string>> = {
  400: "invalid_request",
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  405: "method_not_allowed",
  413: "payload_too_large",
  415: "unsupported_media_type",
  429: "rate_limited",
};

const json = { "content-type": "application/json" };
const pet = '{"name":"a","categoryId":1}';

const post = (what: string, body: ApiCase["body"], status: number, more = {}): ApiCase => ({
  what,
  path: "/v1/pets",
  method: "POST",
  headers: json,
  body: body ?? "",
  status,
  ...more,
});
const get = (path: string, status: number, more: Partial<ApiCase> = {}): ApiCase => ({
  what: `GET ${path}`,
  path,
  status,
  ...more,
});

/** Bodies that are stored, and as what: the first has the id 1. */
const stored: readonly (readonly [body: string, as: string])[] = [
  ['{"name":"Rex","categoryId":1,"status":"pending"}', '"Rex","categoryId":1,"status":"pending"'],
  ['{"name":"Mia","categoryId":2,"id":77,"colour":"red"}', '"Mia","categoryId":2'],
  ['{"name":"n","categoryId":9223372036854775807}', '"n","categoryId":9223372036854775807'],
  ['{"name":"n","categoryId":-9223372036854775808}', '"n","categoryId":-9223372036854775808'],
  ['{"name":"n","categoryId":1e3}', '"n","categoryId":1000'],
  ['{"name":"","categoryId":1.0}', '"","categoryId":1'],
  ['{"name":"Żółw 🐢","categoryId":1}', '"Żółw 🐢","categoryId":1'],
];
const animals = stored.map(([, as], at) => `{"id":${at + 1},"name":${as}}`);

const creates = stored.map(([body], at) =>
  post(`stores ${body}`, body, 201, {
    text: animals[at],
    sent: { location: new RegExp(`^http://[^/]+/v1/pets/${at + 1}$`) },
  }),
);

const once = { ...json, "idempotency-key": "a-1" };
const repeated: readonly ApiCase[] = [
  post("remembers a create", pet, 201, { headers: once, sent: { "idempotent-replayed": null } }),
  post("repeats its answer", '{ "categoryId":1.0, "name":"\\u0061" }', 201, {
    headers: { ...json, "idempotency-key": '"a-1"' },
    sent: { "idempotent-replayed": "true" },
    text: '{"id":8,"name":"a","categoryId":1}',
  }),
  ...["Application/JSON", "application/json;charset=utf-8", "application/json ; x=y"].map((type) =>
    post(`reads the type ${type}`, pet, 201, {
      headers: { ...once, "content-type": type, "content-encoding": "Identity" },
      sent: { "idempotent-replayed": "true", location: /\/v1\/pets\/8$/ },
    }),
  ),
  ...['"b","categoryId":1', '"a","categoryId":2', '"a","categoryId":1,"status":"sold"'].map(
    (other) =>
      post(`for the same animal alone, not ${other}`, `{"name":${other}}`, 400, {
        headers: once,
        message:
          "This Idempotency-Key came with another body within the last 24 hours; use a new one for another animal.",
      }),
  ),
  ...["", "a b", "x".repeat(256)].map((value) =>
    post(`refuses the Idempotency-Key ${value.slice(0, 9)}`, pet, 400, {
      headers: { ...json, "idempotency-key": value },
    }),
  ),
];

const page = animals.slice(0, 2).join(",");
const reads: readonly ApiCase[] = [
  ...animals.map((text, at) => get(`/v1/pets/${at + 1}`, 200, { text })),
  get("/v1/pets/1", 200, {
    sent: {
      deprecation: /^@\d+$/,
      sunset: "Thu, 05 Dec 2030 00:00:00 GMT",
      link: /^<http:\/\/[^/]+\/v1\/pets>; rel="successor-version"$/,
    },
  }),
  get("/v1/pets?limit=2", 200, {
    text: `[${page}]`,
    sent: { link: /^<http:\/\/[^/]+\/v1\/pets\?limit=2&after=2>; rel="next"$/ },
  }),
  get("/v1/pets?status=pending", 200, { text: `[${animals[0]}]`, sent: { link: null } }),
  get("/v1/pets?after=9223372036854775807", 200, { text: "[]", sent: { link: null } }),
  get("/v1/pets?page=2&limit=5&offset=x&page=3", 200),
  // An id is a value and no part of the path.
  get("/v1/pets/%31", 200, { text: animals[0] ?? "" }),
  { what: "HEAD as GET", path: "/v1/pets", method: "HEAD", status: 200, text: "" },
  {
    what: "OPTIONS with Allow",
    path: "/v1/pets",
    method: "OPTIONS",
    status: 204,
    text: "",
    sent: { allow: "GET, HEAD, POST, OPTIONS", "content-type": null },
  },
];

const long = (bytes: number) => `{"name":"${"x".repeat(bytes - 26)}","categoryId":1}`;
const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const noInteger = "categoryId must be an integer of 64 bits.";
const tooDeep = "The body is nested too deeply.";
const refusedBodies = (
  [
    ["no body", "", "The request has no body; it must be a JSON object."],
    ["no JSON", "{", "The body is not valid JSON."],
    ["two objects", `${pet}${pet}`],
    ["a comment", `${pet}//`],
    ["null", "null"],
    ["a list", "[]", "The body must be a JSON object."],
    ["a number", "1e400", "The body must be a JSON object."],
    ["an empty object", "{}"],
    [
      "no name",
      '{"categoryId":1}',
      "name is required: it must be a string of at most 1,000 characters.",
    ],
    ["text as categoryId", '{"name":"a","categoryId":"5"}'],
    ["a fraction", '{"name":"a","categoryId":0.99999999999999999}', noInteger],
    ["2^63", '{"name":"a","categoryId":9223372036854775808}', noInteger],
    ["1e400", '{"name":"a","categoryId":1e400}', noInteger],
    ["null for categoryId", '{"name":"a","categoryId":null}', noInteger],
    ["null for name", '{"name":null,"categoryId":1}'],
    ["a number for name", '{"name":1e400,"categoryId":9007199254740993}'],
    [
      "null for status",
      '{"name":"a","categoryId":1,"status":null}',
      "status must be one of available, pending, sold; leave it out if there is none.",
    ],
    ["another status", '{"name":"a","categoryId":1,"status":"gone"}'],
    ["a number for status", '{"name":"a","categoryId":1,"status":1e400}'],
    ["1,001 characters", long(1_027), "name has 1,001 characters; at most 1,000 are allowed."],
    [
      "a NUL",
      '{"name":"a\\u0000","categoryId":1}',
      "name has the character U+0000, which is not allowed.",
    ],
    ["a lone surrogate", '{"name":"\\ud800","categoryId":1}'],
    // Before its fields are looked at: Elysia writes a body that they refuse out as JSON, which
    // takes 1.4 s for 30,000 levels.
    ["512 levels", `{"more":${nested(512)}}`, tooDeep],
    ["32,000 levels", `{"name":${nested(32_000)}}`, tooDeep],
    ["10,000 objects", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`, tooDeep],
    ["fields on the prototype only", `{"__proto__":${pet}}`],
    ["invalid UTF-8", Buffer.from('{"name":"\xff"}', "latin1"), "The body is not valid UTF-8."],
    ["UTF-16", Buffer.from(pet, "utf16le")],
  ] as const
).map(([what, body, message]) =>
  post(what, typeof body === "string" ? body : new Uint8Array(body), 400, { message }),
);

const sentAs = "The body must be sent as Content-Type: application/json";
const refusedTypes: readonly ApiCase[] = [
  post("64 KiB and a byte", long(64 * 1024 + 1), 413, {
    message: "The body is larger than 64 KiB.",
  }),
  post("2 MB", long(2_000_000), 413),
  ...["application/x-www-form-urlencoded", "application/json-patch"].map((type) =>
    post(`the type ${type}`, pet, 415, {
      headers: { "content-type": type },
      sent: { "accept-encoding": null },
      message: `${sentAs}, not ${type}.`,
    }),
  ),
  post("no type", new TextEncoder().encode(pet), 415, {
    headers: {},
    message: `${sentAs}, and came without one.`,
  }),
  ...["gzip", "br", "gzip, identity", "nonsense"].map((coding) =>
    post(`the coding ${coding}`, pet, 415, {
      headers: { ...json, "content-encoding": coding },
      sent: { "accept-encoding": "identity" },
      message: "The body must be sent without Content-Encoding.",
    }),
  ),
];

const only = "may be given only once, with one value.";
const refusedQueries = (
  [
    ["limit=0"],
    ["limit=101"],
    ["limit"],
    ["limit=5&lim%69t=6"],
    ["limit=%FF"],
    ["status="],
    ["status=AVAILABLE"],
    ["after=abc"],
    ["limit=5&limit=5", `limit ${only}`],
    ["after=1&after=2&after=3", `after ${only}`],
    ["status=sold%2Cpending", `status ${only}`],
  ] as const
).map(([query, message]) => get(`/v1/pets?${query}`, 400, message ? { message } : {}));

const ids = ["abc", "99", "0", "1.5", "9223372036854775808", "%31%30%30", "%00"];
const nowhere = [
  ["/v1", "/v1/", "/v1/pets/", "/v1/pets/1/", "/v1/pets/1/photos", "/v1/Pets", "/v1//pets"],
  ["/v1/pets%2F1", "/v1/p%65ts", "/v1/%70ets?limit=1", "/v1%2Fpets"],
].flat();
const refusedPaths = [...ids.map((id) => `/v1/pets/${id}`), ...nowhere].flatMap((path) => [
  get(path, 404),
  ...(nowhere.includes(path) ? [post(`PUT ${path}`, pet, 404, { path, method: "PUT" })] : []),
]);

const refusedMethods = (
  [
    ["/v1/pets", "GET, HEAD, POST, OPTIONS", ["PUT", "PATCH", "DELETE"]],
    ["/v1/pets/1", "GET, HEAD, OPTIONS", ["POST", "PUT", "PATCH", "DELETE"]],
  ] as const
).flatMap(([path, allow, methods]) =>
  methods.map((method) => ({
    ...post(`${method} ${path}`, pet, 405),
    path,
    method,
    sent: { allow },
  })),
);

const bearer = "The header must have this form: Authorization: Bearer <API_KEY>.";
const invalid = { "www-authenticate": 'Bearer error="invalid_token"' };
const credentials: readonly ApiCase[] = [
  get("/v1/pets", 401, { as: "", sent: { "www-authenticate": "Bearer" } }),
  get("/v1/pets", 401, { authorization: () => "", sent: { "www-authenticate": "Bearer" } }),
  ...["bearer", "BEARER", "bearer  "].map((scheme) =>
    get("/v1/pets", 200, { authorization: (secret) => `${scheme} ${secret}` }),
  ),
  ...[
    "Bearer",
    "Basic abc",
    "Token abc",
    "Bearer_KEY",
    "Bearer\tKEY",
    "XBearer KEY",
    'Bearer "KEY"',
    "Bearer KEY x",
    "KEY",
  ].map((text) =>
    get("/v1/pets", 401, {
      what: `the header ${text}`,
      authorization: (secret) => text.replace("KEY", secret),
      sent: invalid,
      ...(/^(?:Bearer|\w+ abc)$/.test(text) && { message: bearer }),
    }),
  ),
  // Who is calling comes before anything of body, path and query.
  get("/v1/pets?limit=abc", 401, { as: "" }),
  get("/v1/pets/1", 401, { as: "" }),
  get("/v1/nothing", 401, { as: "" }),
  post("a body without a key", long(70_000), 401, { as: "" }),
];

const reader: readonly ApiCase[] = [
  get("/v1/pets/1", 200, { as: "reader" }),
  post("a create with a read-only key", pet, 403, {
    as: "reader",
    sent: { "www-authenticate": 'Bearer error="insufficient_scope"' },
    message: "This API key is read-only: it can read animals but not add them.",
  }),
  post("no JSON with a read-only key", "{", 403, { as: "reader" }),
  post("POST to nowhere with a read-only key", pet, 404, { as: "reader", path: "/v1/nothing" }),
  post("POST to an animal with it", pet, 405, { as: "reader", path: "/v1/pets/1" }),
];

/** A key that may be used once. A refusal costs nothing. */
const spent: readonly ApiCase[] = [
  get("/v1/pets", 200, { as: "spent" }),
  ...[get("/v1/pets", 429), get("/v1/pets/1", 429), post("a create over the limit", pet, 429)].map(
    (each) => ({ ...each, as: "spent", sent: { "retry-after": /^[1-9]\d*$/ } }) as const,
  ),
];

const openPaths = ["/health", "/ready", "/docs", "/docs/json"];
const allow = "GET, HEAD, OPTIONS";
const open: readonly ApiCase[] = [
  ...openPaths.flatMap((path): ApiCase[] => [
    get(path, 200, { as: "" }),
    post(`POST ${path}`, pet, 405, { path, as: "", sent: { allow } }),
    {
      what: `OPTIONS ${path}`,
      path,
      method: "OPTIONS",
      as: "",
      status: 204,
      text: "",
      sent: { allow, "content-type": null },
    },
  ]),
  // Nothing that is no file is kept by a cache.
  ...["/health", "/ready"].map((path) =>
    get(path, 200, { as: "", sent: { "cache-control": "no-store" } }),
  ),
  ...[
    "/nothing",
    "/V1/pets",
    "/v1pets",
    "/docs/nothing",
    "/healthy",
    "/x/health",
    "/health/",
  ].flatMap((path) => [
    get(path, 404, { as: "", sent: { "cache-control": "no-store" } }),
    post(`POST ${path}`, pet, 404, { path, as: "" }),
  ]),
];

const cases: readonly ApiCase[] = [
  ...creates,
  ...repeated,
  ...reads,
  ...refusedBodies,
  ...refusedTypes,
  ...refusedQueries,
  ...refusedPaths,
  ...refusedMethods,
  ...credentials,
  ...reader,
  ...spent,
  ...open,
  // Nothing came of what was refused.
  get("/v1/pets", 200, {
    what: "nothing else is stored",
    text: `[${[...animals, '{"id":8,"name":"a","categoryId":1}'].join(",")}]`,
  }),
];

/** Where the table runs. Each key has the same limit for a minute and a day. */
interface Place {
  readonly send: (path: string, init: RequestInit) => Promise<Response>;
  readonly secrets: Readonly<Record<"writer" | "reader" | "spent", string>>;
  readonly close: () => Promise<unknown>;
}

/** Declares the table's tests on the place that `begin` opens. */
export function testApi(begin: () => Promise<Place>): void {
  let place: Place;
  /** What each caller has left. */
  const left = new Map<string, number>();
  beforeAll(async () => void (place = await begin()));
  afterAll(() => place.close());

  test.each(cases)("$what: $status", async (each) => {
    const { path, method = "GET", as = "writer", status, body } = each;
    const headers = new Headers(each.headers);
    const secret = as === "" ? undefined : place.secrets[as];
    const written = each.authorization ?? ((key: string) => `Bearer ${key}`);
    if (secret !== undefined) headers.set("authorization", written(secret));
    const answer = await place.send(path, { method, headers, ...(body !== undefined && { body }) });
    const text = await answer.text();
    expect([answer.status, text]).toEqual([status, each.text ?? expect.any(String)]);
    if (status >= 400) {
      const { message, ...others } = JSON.parse(text) as Record<string, unknown>;
      expect(others).toEqual({ code: codes[status], status });
      expect(message).toEqual(each.message ?? expect.stringMatching(/^[A-Z\w].*\.$/s));
    }
    for (const [name, value] of Object.entries(each.sent ?? {})) {
      const sent = answer.headers.get(name);
      if (value instanceof RegExp) expect(sent).toMatch(value);
      else expect([name, sent]).toEqual([name, value]);
    }
    const isJson = answer.headers.get("content-type") === "application/json";
    if (status >= 400) expect(isJson).toBe(true);
    const limits = ["limit", "remaining", "reset"].map((name) =>
      answer.headers.get(`x-ratelimit-${name}`),
    );
    if (!path.startsWith("/v1/") && path !== "/v1")
      return expect(limits).toEqual([null, null, null]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    for (const each of limits) expect(each).toMatch(/^\d+$/);
    // Each request costs one, whatever its answer.
    const caller = status === 401 ? `nobody until ${limits[2]}` : as;
    const now = Number(limits[1]);
    const before = left.get(caller) ?? now + 1;
    left.set(caller, now);
    expect(now).toBe(status === 429 ? 0 : before - 1);
  });

  test("a list has 20 animals, or at most 100, and its Link headers lead through all of them", async () => {
    const headers = { authorization: `Bearer ${place.secrets.writer}`, ...json };
    const ask = (path: string) => place.send(path, { headers });
    for (let count = 8; count < 130; count += 1) {
      await place.send("/v1/pets", { method: "POST", headers, body: pet });
    }
    expect(await (await ask("/v1/pets")).json()).toHaveLength(20);
    const found: number[] = [];
    let next: string | undefined = "/v1/pets?limit=100";
    while (next !== undefined) {
      const answer = await ask(next);
      found.push(...((await answer.json()) as { id: number }[]).map(({ id }) => id));
      next = /<[^>]+(\/v1[^>]+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
    }
    expect(found).toEqual(Array.from({ length: 130 }, (_, at) => at + 1));
  });
}
