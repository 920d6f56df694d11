/**
 * Loaded before the tests that test-system/tools/prism.test.ts runs: Prism judges what `fetch` was
 * answered when all of them have ended.
 */
import { afterAll } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { installTools, toolsFolder } from "./tools.ts";

/** What Prism's library is used for here: it is installed beside the service, not with it. */
interface Prism {
  getHttpOperationsFromSpec(document: object): Promise<Operation[]>;
  createInstance(
    config: object,
    components: object,
  ): {
    request(
      input: Input,
      operations: readonly Operation[],
      config: object,
    ): () => Promise<{
      readonly left?: Error;
      readonly right?: { readonly validations: Record<"input" | "output", readonly Finding[]> };
    }>;
  };
}

interface Operation {
  readonly method: string;
  readonly path: string;
}

/** A request as Prism takes it, and the answer that it got. */
type Input = ReturnType<typeof inputOf>;
type Exchange = ReturnType<typeof exchangeOf>;

interface Finding {
  readonly path?: readonly string[];
  readonly message: string;
}

/** What was found: how many answers each operation and status of the document had. */
export interface Findings {
  readonly judged: Record<string, number>;
  readonly violations: string[];
}

/** Has the document, and gets what was found. */
const folder = process.env["TEST_JUDGE"] ?? "";
const basePath = "/v1";
const longestMs = 600_000;
const silent = Object.fromEntries(
  ["trace", "debug", "info", "success", "warn", "error"].map((level) => [level, () => undefined]),
);
const logger = { ...silent, child: () => logger };

/** Prism as its proxy is, but that the answer is there already. */
async function judge(document: object, exchanges: readonly Exchange[]): Promise<Findings> {
  await installTools();
  const module = join(toolsFolder, "node_modules/@stoplight/prism-http/dist/index.js");
  const prism = (await import(module)) as Prism;
  const operations = await prism.getHttpOperationsFromSpec(document);
  allowInt64(operations);
  const findings: Findings = { judged: {}, violations: [] };
  for (const { input, answer } of exchanges) {
    const { method, url } = input;
    let operation: Operation | undefined;
    const engine = prism.createInstance(
      { isProxy: true, validateResponse: true, errors: false, upstream: new URL("http://a") },
      {
        logger,
        forward: (_input: object, _upstream: string, _proxy: undefined, to?: Operation) => {
          operation = to;
          return () => () => Promise.resolve({ _tag: "Right", right: answer });
        },
      },
    );
    // A refusal is what a request that the document forbids should get; only carrying it out is
    // wrong.
    const isCarriedOut = answer.statusCode < 300;
    const config = { validateRequest: isCarriedOut, checkSecurity: isCarriedOut };
    // To Prism an empty segment is a parameter's value too, and `p%65ts` is `pets`.
    const isKnown = !/\/(\/|$)|^\/\w*%/.test(url.path);
    const { left, right } = await engine.request(input, isKnown ? operations : [], config)();
    if (right === undefined) throw left ?? new Error("Prism gave no verdict");
    if (operation === undefined) {
      // HEAD goes with GET, OPTIONS with each path (RFC 9110). All else has to be refused.
      const isRefused = /^(?:head|options)$/.test(method) || answer.statusCode >= 400;
      if (!isRefused) findings.violations.push(`${method} ${url.path}: not in the document`);
      continue;
    }
    const name = `${method.toUpperCase()} ${operation.path} ${answer.statusCode}`;
    findings.judged[name] = (findings.judged[name] ?? 0) + 1;
    for (const side of ["input", "output"] as const) {
      for (const { path = [], message } of right.validations[side]) {
        findings.violations.push(`${name}, ${side}: ${[...path, message].join(" ")}`);
      }
    }
  }
  return findings;
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

function inputOf({ method, headers, url }: Request, body: string) {
  const { pathname, searchParams } = new URL(url);
  const query: Record<string, string | string[]> = {};
  for (const name of searchParams.keys()) {
    const values = searchParams.getAll(name);
    query[name] = values.length === 1 ? (values[0] ?? "") : values;
  }
  const { authorization, ...others } = Object.fromEntries(headers);
  // The body of a GET means nothing (RFC 9110, section 9.3.1): it is ignored, as unknown parameters
  // are.
  const hasBody = method !== "GET" && body !== "";
  return {
    method: method.toLowerCase(),
    url: { path: pathname.slice(basePath.length), query },
    headers: {
      ...others,
      // A scheme's name has no case (RFC 9110, section 11.1), which Prism does not know.
      ...(authorization !== undefined && {
        authorization: authorization.replace(/^bearer\b/i, "Bearer"),
      }),
      ...(hasBody && { "content-length": String(Buffer.byteLength(body)) }),
    },
    body: hasBody ? valueOf(body, headers) : undefined,
  };
}

/** What is no JSON stays the text that it is. */
function valueOf(text: string, headers: Headers): unknown {
  if (!/^application\/json\b/i.test(headers.get("content-type") ?? "")) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const exchanges: Exchange[] = [];

/** Keeps an answer when all of it has come. Its server may be killed before. */
async function keepWhole(request: Request, response: Response): Promise<void> {
  if (!new URL(request.url).pathname.startsWith(`${basePath}/`)) return;
  const [sent, body] = await Promise.all([request.text(), response.text()]);
  exchanges.push(exchangeOf(request, sent, response, body));
}

function exchangeOf(request: Request, sent: string, response: Response, body: string) {
  const { status: statusCode, headers } = response;
  const answer = { statusCode, headers: Object.fromEntries(headers), body: valueOf(body, headers) };
  return { input: inputOf(request, sent), answer };
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
  await Promise.all(pending);
  const document = JSON.parse(readFileSync(join(folder, "openapi.json"), "utf8")) as object;
  writeFileSync(join(folder, "findings.json"), JSON.stringify(await judge(document, exchanges)));
}, longestMs);
