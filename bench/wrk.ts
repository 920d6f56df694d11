// One run of wrk, and what it counted.
import { join } from "node:path";
import { DidNotRun, loadCore, runCounted } from "./process.ts";

export interface Request {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Load {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** One request is sent over and over; of several, one after the other. */
  readonly requests: readonly Request[];
  /** Where its script lies; loads at the same time need folders of their own. */
  readonly folder: string;
  /** False to let wrk run on every core, not on the load's. */
  readonly pinned?: false;
}

/** What wrk counted. `refused` are answers with a status of 400 or more. */
export interface Counted {
  readonly requests: number;
  readonly seconds: number;
  readonly bytes: number;
  readonly refused: number;
  readonly socketErrors: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time wrk took. */
  readonly cpuUs: number;
}

/** Long brackets hold anything but their own end: no escapes to get wrong. */
const quote = (text: string): string => `[==[${text}]==]`;

function luaRequest(request: Request): string {
  const headers = Object.entries(request.headers)
    .map(([name, value]) => `[ ${quote(name)} ]=${quote(value)}`)
    .join(",");
  const body = request.body === undefined ? "nil" : quote(request.body);
  return `{${quote(request.method)},${quote(request.path)},{${headers}},${body}}`;
}

/**
 * The script wrk runs. A single request goes the static way (no Lua per request); several are
 * formatted before the load starts and then sent in turn.
 */
export function luaScript(requests: readonly Request[]): string {
  const done = `
function done(summary, latency)
  local e = summary.errors
  io.write(string.format('\\nRESULT {"requests":%d,"microseconds":%d,"bytes":%d,"refused":%d,"socketErrors":%d,"p50":%d,"p99":%d}\\n',
    summary.requests, summary.duration, summary.bytes, e.status, e.connect + e.read + e.write + e.timeout,
    latency:percentile(50), latency:percentile(99)))
end
`;
  const [first] = requests;
  if (requests.length === 1 && first !== undefined) {
    return `
local r = ${luaRequest(first)}
wrk.method, wrk.path, wrk.headers, wrk.body = r[1], r[2], r[3], r[4]
${done}`;
  }
  // Lua allows a function 2^18 constants at most, so the requests come from a file, one a line.
  return `
local formatted, count, at = {}, 0, 0
function init(args)
  for line in io.lines(args[1]) do
    local method, path, header, body = line:match("^([^\\t]*)\\t([^\\t]*)\\t([^\\t]*)\\t(.*)$")
    local headers = {}
    for name, value in header:gmatch("([^:\\1]+):([^\\1]*)") do headers[name] = value end
    if body == "" then body = nil end
    count = count + 1
    formatted[count] = wrk.format(method, path, headers, body)
  end
end
function request()
  at = at % count + 1
  return formatted[at]
end
${done}`;
}

const line = (request: Request): string =>
  [
    request.method,
    request.path,
    Object.entries(request.headers)
      .map(([name, value]) => `${name}:${value}`)
      .join("\u0001"),
    request.body ?? "",
  ].join("\t");

/** Runs the load and returns what was counted. Throws DidNotRun when wrk fails or says nothing. */
export async function runLoad(load: Load): Promise<Counted> {
  const script = join(load.folder, "load.lua");
  const list = join(load.folder, "load.txt");
  await Bun.write(script, luaScript(load.requests));
  await Bun.write(list, `${load.requests.map(line).join("\n")}\n`);
  const url = `http://127.0.0.1:${load.port}`;
  const options = ["-t1", `-c${load.connections}`, `-d${load.seconds}s`, "--latency", "-s", script];
  const pin = load.pinned === false ? [] : ["taskset", "-c", String(loadCore)];
  const { out, cpuUs } = await runCounted([...pin, "wrk", ...options, url, "--", list]);
  const json = /^RESULT (.*)$/m.exec(out)?.[1];
  if (json === undefined) throw new DidNotRun("wrk printed no result");
  const raw = JSON.parse(json) as Record<string, number>;
  const number = (name: string): number => raw[name] ?? Number.NaN;
  return {
    requests: number("requests"),
    seconds: number("microseconds") / 1e6,
    bytes: number("bytes"),
    refused: number("refused"),
    socketErrors: number("socketErrors"),
    p50Ms: number("p50") / 1000,
    p99Ms: number("p99") / 1000,
    cpuUs,
  };
}
