/**
 * Loaded before the tests that test-system/tools/prism.test.ts runs: Prism judges what `fetch` was
 * answered when all of them have ended.
 */
import { afterAll } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { installTools, toolsFolder } from "./tools.ts";

/** A request, and the answer that it got. */
interface Exchange {
  readonly request: {
    readonly method: string;
    /** Path and query. */
    readonly target: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
  readonly answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
}

/** What Prism's library is used for here: it is installed beside the service, not with it. */
interface PrismHttp {
  getHttpOperationsFromSpec(document: object): Promise<Operation[]>;
  createInstance(config: object, components: object): Engine;
}

interface Operation {
  readonly method: string;
  readonly path: string;
}

interface Input {
  readonly method: string;
  readonly url: { readonly path: string; readonly query: Record<string, string | string[]> };
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

interface Finding {
  readonly path?: readonly string[];
  readonly message: string;
}

interface Engine {
  request(input: Input, operations: readonly Operation[], config: object): () => Promise<Outcome>;
}

interface Outcome {
  readonly _tag: "Left" | "Right";
  readonly left?: Error;
  readonly right?: { readonly validations: Record<"input" | "output", readonly Finding[]> };
}

interface Verdict {
  /** Operation and status, such as `GET /pets/{petId} 404`, if the document has them. */
  readonly judged?: string;
  /** What is wrong with the answer, or with its having been given. */
  readonly violations: readonly string[];
}

const basePath = "/v1";
const silent = Object.fromEntries(
  ["trace", "debug", "info", "success", "warn", "error"].map((level) => [level, () => undefined]),
);
const logger = { ...silent, child: () => logger };

/** A judge by the document `text`: Prism as its proxy is, but that the answer is there already. */
async function prismJudge(text: string): Promise<(exchange: Exchange) => Promise<Verdict>> {
  await installTools();
  const module = join(toolsFolder, "node_modules/@stoplight/prism-http/dist/index.js");
  const prism = (await import(module)) as PrismHttp;
  const operations = await prism.getHttpOperationsFromSpec(JSON.parse(text) as object);
  allowInt64(operations);
  const known = new WeakMap<Input, object>();
  const routed = new WeakMap<Input, Operation>();
  const engine = prism.createInstance(
    { isProxy: true, validateResponse: true, errors: false, upstream: new URL("http://127.0.0.1") },
    {
      logger,
      forward: (sent: { data: Input }, _upstream: string, _proxy: undefined, to?: Operation) => {
        if (to !== undefined) routed.set(sent.data, to);
        return () => () => Promise.resolve({ _tag: "Right", right: known.get(sent.data) });
      },
    },
  );
  return async ({ request, answer }) => {
    const url = new URL(request.target, "http://localhost");
    // To Prism an empty segment is a parameter's value too.
    if (/\/(\/|$)/.test(url.pathname)) return outsideOf(request, answer.status);
    const input = inputOf(request, url);
    const { status: statusCode, headers } = answer;
    const body = valueOf(answer.body, headers["content-type"]);
    known.set(input, { statusCode, headers, body });
    // A refusal is what a request that the document forbids should get; only carrying it out is
    // wrong.
    const isCarriedOut = statusCode < 300;
    const config = { validateRequest: isCarriedOut, checkSecurity: isCarriedOut };
    const { left, right } = await engine.request(input, operations, config)();
    if (right === undefined) throw left ?? new Error("Prism gave no verdict");
    const operation = routed.get(input);
    if (operation === undefined) return outsideOf(request, statusCode);
    const judged = `${request.method} ${operation.path} ${statusCode}`;
    return { judged, violations: violationsOf(judged, right.validations) };
  };
}

function violationsOf(
  judged: string,
  { input, output }: Record<"input" | "output", readonly Finding[]>,
): string[] {
  const described = ({ path, message }: Finding) => [...(path ?? []), message].join(" ");
  return [
    ...output.map((found) => `${judged}: ${described(found)}`),
    ...input.map((found) => `${judged}, though of the request: ${described(found)}`),
  ];
}

/** HEAD goes with GET, OPTIONS with each path (RFC 9110). All else has to be refused. */
function outsideOf({ method, target }: Exchange["request"], status: number): Verdict {
  const isRefused = method === "HEAD" || method === "OPTIONS" || status >= 400;
  return { violations: isRefused ? [] : [`${method} ${target} ${status}: not in the document`] };
}

function inputOf({ method, headers, body }: Exchange["request"], url: URL): Input {
  const query: Record<string, string | string[]> = {};
  for (const name of url.searchParams.keys()) {
    const values = url.searchParams.getAll(name);
    query[name] = values.length === 1 ? (values[0] ?? "") : values;
  }
  const { authorization, "content-length": length, ...others } = headers;
  // The body of a GET means nothing (RFC 9110, section 9.3.1): it is ignored, as unknown parameters
  // are.
  const hasBody = method !== "GET" && body !== "";
  return {
    method: method.toLowerCase(),
    url: { path: url.pathname.slice(basePath.length), query },
    headers: {
      ...others,
      // A scheme's name has no case (RFC 9110, section 11.1), which Prism does not know.
      ...(authorization !== undefined && {
        authorization: authorization.replace(/^bearer\b/i, "Bearer"),
      }),
      ...(hasBody && { "content-length": length ?? String(Buffer.byteLength(body)) }),
    },
    body: hasBody ? valueOf(body, headers["content-type"]) : undefined,
  };
}

const parseExact = JSON.parse as (
  text: string,
  reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown;

/**
 * A JSON body's value. An integer beyond 64 bits becomes a text, which no schema for a number
 * takes: as a double it may look like one within. What is no JSON stays the text that it is.
 */
function valueOf(text: string, type: string | undefined): unknown {
  if (!/^application\/json\b/i.test(type ?? "")) return text;
  try {
    return parseExact(text, (_, value, { source }) => {
      const isLong = typeof value === "number" && /^-?\d{16,}$/.test(source ?? "");
      return isLong && BigInt.asIntN(64, BigInt(source ?? "")) !== BigInt(source ?? "")
        ? source
        : value;
    });
  } catch {
    return text;
  }
}

/** The bounds of int64, where Prism adds those of what a double holds exactly. */
function allowInt64(value: unknown, seen = new Set<object>()): void {
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  seen.add(value);
  const schema = value as Record<string, unknown>;
  if (schema["format"] === "int64") {
    if (schema["maximum"] === Number.MAX_SAFE_INTEGER) schema["maximum"] = 2 ** 63;
    if (schema["minimum"] === Number.MIN_SAFE_INTEGER) schema["minimum"] = -(2 ** 63);
  }
  for (const inner of Object.values(schema)) allowInt64(inner, seen);
}

/** Has the document, and gets what was found. */
const folder = process.env["TEST_JUDGE"] ?? "";
const longestMs = 600_000;

/** What was found: how many answers each operation and status of the document had. */
export interface Findings {
  readonly judged: Record<string, number>;
  readonly violations: readonly string[];
}

/** Exchanges by what Prism sees of them: two that differ in numbers of headers are alike. */
const kept = new Map<string, { readonly exchange: Exchange; count: number }>();

function keep(exchange: Exchange): void {
  const { request, answer } = exchange;
  const { authorization = "", ...headers } = request.headers;
  const numbers = JSON.stringify(answer.headers).replaceAll(/[0-9a-f-]{36}|\d+/g, "0");
  const scheme = authorization.split(" ", 1);
  const seen = { ...request, headers, scheme, status: answer.status, body: answer.body };
  const known = kept.getOrInsertComputed(JSON.stringify([seen, request.body, numbers]), () => ({
    exchange,
    count: 0,
  }));
  known.count += 1;
}

/** Keeps an answer when all of it has come. Its server may be killed before. */
async function keepWhole(request: Request, response: Response): Promise<void> {
  const { pathname, search } = new URL(request.url);
  if (!pathname.startsWith("/v1/")) return;
  const bodies = [request.text(), response.text()];
  const [sent = "", body = ""] = await Promise.all(bodies);
  const { method, headers } = request;
  keep({
    request: { method, target: pathname + search, headers: headers.toJSON(), body: sent },
    answer: { status: response.status, headers: response.headers.toJSON(), body },
  });
}

const pending = new Set<Promise<void>>();
const original = globalThis.fetch;
const judged = async (address: string | URL | Request, init?: RequestInit) => {
  const request = new Request(address as string, init);
  const response = await original(address, init);
  const keeping = keepWhole(request, response.clone() as Response).catch(() => undefined);
  pending.add(keeping);
  void keeping.finally(() => pending.delete(keeping));
  return response;
};
globalThis.fetch = Object.assign(judged, { preconnect: original.preconnect });

afterAll(async () => {
  const judge = await prismJudge(readFileSync(join(folder, "openapi.json"), "utf8"));
  await Promise.all(pending);
  const counts: Record<string, number> = {};
  const violations: string[] = [];
  for (const { exchange, count } of kept.values()) {
    const verdict = await judge(exchange);
    if (verdict.judged !== undefined)
      counts[verdict.judged] = (counts[verdict.judged] ?? 0) + count;
    violations.push(...verdict.violations);
  }
  const findings: Findings = { judged: counts, violations };
  writeFileSync(join(folder, "findings.json"), JSON.stringify(findings));
}, longestMs);
