/** Carries out a schedule, and records each call with its time. */
import { Client, goneBeforeRequest, requestText } from "../../test/helpers/load.ts";
import { random } from "../random.ts";
import type {
  Answer,
  Asked,
  Call,
  Happening,
  History,
  Limits,
  Order,
  Pet,
  Request,
} from "./history.ts";
import { processesOf, type Place } from "./place.ts";
import type { KeyName, OperatorStep, Reference, RequestStep, Schedule } from "./schedule.ts";

/** About what a step of an operator takes; clients spread their calls over so much. */
const stepMs = 80;
/** A server that does not come back ends the run. */
const patienceMs = 60_000;

interface Key {
  readonly id: string;
  readonly secret: string;
}

/** The keys of a history. */
export type Keys = Readonly<Record<KeyName, Key>>;

/** Makes the keys of a history. */
export async function makeKeys(place: Place, schedule: Schedule, prefix: string): Promise<Keys> {
  const makeKey = async (name: KeyName): Promise<Key> => {
    const { perMinute, perDay } = schedule.limits[name];
    const limits = given({ "--per-minute": perMinute, "--per-day": perDay });
    const plan = ["--plan", "enterprise", ...limits, "--name", `${prefix} ${name}`, "--json"];
    const { exitCode, stdout, stderr } = await place.prepare(["keys", "create", ...plan]);
    if (exitCode !== 0) throw new Error(`no key was made: ${stderr}`);
    const { id, key } = JSON.parse(stdout) as { id: string; key: string };
    return { id, secret: key };
  };
  const [roomy, limited] = await Promise.all([makeKey("roomy"), makeKey("limited")]);
  return { roomy, limited };
}

export async function record(
  place: Place,
  schedule: Schedule,
  keys: Keys,
  prefix: string,
): Promise<History> {
  const recorder = new Recorder(place, schedule, keys, prefix);
  await recorder.run();
  return {
    store: place.kind,
    processes: processesOf[place.kind],
    calls: recorder.calls,
    keys: new Map<string, Limits>(Object.entries(schedule.limits)),
  };
}

class Recorder {
  readonly calls: Call[] = [];
  readonly #place: Place;
  readonly #schedule: Schedule;
  readonly #keys: Keys;
  readonly #prefix: string;
  /** Ids of the history's animals, ascending. */
  #known: number[] = [];
  readonly #removed: number[] = [];
  readonly #firstId: number;
  readonly #requests: number;
  #sent = 0;
  /** How many steps each operator has done. */
  readonly #operatorsDone: number[];

  constructor(place: Place, schedule: Schedule, keys: Keys, prefix: string) {
    this.#place = place;
    this.#schedule = schedule;
    this.#keys = keys;
    this.#prefix = prefix;
    this.#firstId = place.lastId;
    this.#requests = schedule.clients.reduce((sum, { steps }) => sum + steps.length, 0);
    this.#operatorsDone = schedule.operators.map(() => 0);
  }

  async run(): Promise<void> {
    const { clients, operators } = this.#schedule;
    if (this.#firstId === 0) await this.#createFirst();
    await Promise.all([
      ...clients.map((_, client) => this.#client(client)),
      ...operators.map((_, operator) => this.#operator(operator)),
    ]);
    // What is there in the end tells what became of calls without a response.
    const servers = new Set(clients.map(({ server }) => server));
    for (const server of servers) await this.#readAll(server);
    this.#boundUnknown();
    await this.#place.settle();
    this.#place.lastId = this.#known.at(-1) ?? this.#place.lastId;
  }

  async #createFirst(): Promise<void> {
    const connection = new Client(this.#place.port(0), true);
    for (const categoryId of [1, 2, 3]) {
      const pet = { name: `${this.#prefix} first ${categoryId}`, categoryId };
      const asked = { do: "create", pet } as const;
      await this.#send(connection, { client: 100, server: 0, key: "roomy", asked });
    }
    connection.close();
  }

  async #client(client: number): Promise<void> {
    const { server, steps } = this.#schedule.clients[client] as Schedule["clients"][number];
    const { operators, seed } = this.#schedule;
    const next = random(seed + client + 1);
    const stepsMax = Math.max(0, ...operators.map((each) => each.length));
    const pauseMs = (2 * stepMs * stepsMax) / Math.max(1, steps.length);
    const connection = new Client(this.#place.port(server), true);
    for (const step of steps) {
      while (this.#sent >= this.#allowed()) await Bun.sleep(4);
      this.#sent += 1;
      if (pauseMs > 0) await Bun.sleep(next() * pauseMs);
      await this.#send(connection, { client, server, key: step.key, asked: this.#asked(step) });
    }
    connection.close();
  }

  /** Clients wait for operators that are late, so that there are calls beside all steps. */
  #allowed(): number {
    const parts = this.#schedule.operators.map((steps, at) => {
      const done = this.#operatorsDone[at] ?? 0;
      return done === steps.length ? 1 : (done + 1.2) / (steps.length + 0.5);
    });
    return Math.min(1, ...parts) * this.#requests;
  }

  async #send(
    connection: Client,
    { client, server, key, asked }: Pick<Request, "client" | "server" | "asked"> & { key: KeyName },
  ): Promise<Answer | undefined> {
    const deadlineMs = performance.now() + patienceMs;
    for (;;) {
      const sent = textOf(asked, this.#keys[key].secret);
      const [callMs, callWallMs] = [performance.now(), Date.now()];
      const late = Promise.withResolvers<undefined>();
      const timer = setTimeout(() => late.resolve(undefined), patienceMs);
      const outcome = await Promise.race([connection.send(sent), late.promise]);
      clearTimeout(timer);
      const [returnMs, returnWallMs] = [performance.now(), Date.now()];
      if (outcome === undefined || returnMs > deadlineMs)
        throw new Error(`no response came from port ${this.#place.port(server)}`);
      const answer = typeof outcome === "string" ? undefined : answerOf(outcome);
      // Nobody has seen it: the server is away.
      if (typeof outcome === "string" && goneBeforeRequest.slice(0, 2).includes(outcome)) {
        await Bun.sleep(3);
        continue;
      }
      const isOpen = answer === undefined || (answer.status === 503 && asked.do === "create");
      this.calls.push({
        kind: "request",
        client,
        connection: client * 1_000 + connection.connections,
        server,
        key,
        asked,
        callMs,
        returnMs: isOpen ? Infinity : returnMs,
        callWallMs,
        returnWallMs,
        answer,
      });
      if (answer !== undefined) this.#learn(answer.body);
      else {
        await Bun.sleep(3);
        // What may be sent again is sent again.
        if (asked.do === "create" && asked.once !== undefined) continue;
      }
      return answer;
    }
  }

  #asked(step: RequestStep): Asked {
    switch (step.do) {
      case "create": {
        const { pet: at, once } = step;
        const status = ([undefined, "available", "pending", "sold"] as const)[at % 4];
        const pet = { name: `${this.#prefix} ${at}`, categoryId: 1 + (at % 3) };
        return {
          do: "create",
          pet: { ...pet, ...(status && { status }) },
          ...(once !== undefined && { once: `${this.#prefix}-${once}` }),
        };
      }
      case "list": {
        const { after, ...asked } = step;
        return { ...asked, ...(after !== undefined && { after: this.#idOf(after) }) };
      }
      case "get":
        return { do: "get", id: this.#idOf(step.id) };
    }
  }

  #idOf(reference: Reference): number {
    const last = this.#known.at(-1) ?? this.#firstId;
    if (reference === "first") return this.#firstId;
    if (reference === "last") return last;
    if (reference === "next") return last + 1;
    return this.#known[Math.floor(reference * this.#known.length)] ?? last + 1;
  }

  #learn(body: unknown): void {
    for (const each of Array.isArray(body) ? body : [body]) {
      const { id } = (each ?? {}) as Partial<Pet>;
      if (typeof id !== "number" || id <= this.#firstId || this.#known.includes(id)) continue;
      this.#known.push(id);
      this.#known.sort((a, b) => a - b);
    }
  }

  async #readAll(server: number): Promise<void> {
    const connection = new Client(this.#place.port(server), true);
    let after = this.#firstId;
    for (;;) {
      const asked = { do: "list", limit: 100, after } as const;
      const answer = await this.#send(connection, {
        client: 100 + server,
        server,
        key: "roomy",
        asked,
      });
      const page = answer?.body as readonly Pet[] | undefined;
      if (answer?.status !== 200 || page === undefined) continue;
      after = page.at(-1)?.id ?? after;
      if (!answer.hasNext) break;
    }
    connection.close();
  }

  async #operator(operator: number): Promise<void> {
    const steps = this.#schedule.operators[operator] ?? [];
    for (const [at, step] of steps.entries()) {
      const due = ((at + 0.3) / (steps.length + 0.5)) * this.#requests;
      while (this.#sent < due) await Bun.sleep(4);
      if ("server" in step) await this.#happen(step.do, step.server);
      else await this.#command(this.#orderOf(step));
      this.#operatorsDone[operator] = at + 1;
    }
  }

  async #happen(what: Happening["what"], server: number): Promise<void> {
    const place = this.#place;
    const callMs = performance.now();
    if (what === "kill") await place.kill(server);
    else if (what === "kill one") await place.killOne(server, (this.#sent % 97) / 97);
    else if (what === "replace") await place.replace(server);
    else await place.stop(server);
    this.calls.push({ kind: "happening", what, server, callMs, returnMs: performance.now() });
    if (what === "kill" || what === "stop") await place.start(server);
  }

  #orderOf(step: Exclude<OperatorStep, { server: number }>): Order {
    switch (step.do) {
      case "update":
      case "remove": {
        const ids = [...new Set(step.ids.map((reference) => this.#idOf(reference)))];
        return step.do === "update" ? { ...step, ids } : { ...step, ids };
      }
      case "restore": {
        const { at } = step;
        const removed = this.#removed[Math.floor(at * this.#removed.length)];
        return { do: "restore", id: removed ?? this.#idOf(at) };
      }
      default:
        return step;
    }
  }

  async #command(order: Order): Promise<void> {
    const callMs = performance.now();
    const args = argsOf(order, this.#keys);
    const { exitCode, stdout, stderr } = await this.#place.command([...args, "--json"]);
    const printed: unknown = exitCode === 0 ? JSON.parse(stdout) : undefined;
    const timed = { callMs, returnMs: performance.now() };
    this.calls.push({ kind: "command", order, exitCode, printed, stderr, ...timed });
    if (order.do === "remove") this.#removed.push(...order.ids);
    this.#learn(printed);
  }

  /** A server that is gone does nothing any more; a database may go on with what it was told. */
  #boundUnknown(): void {
    const ends = this.calls.filter((call): call is Happening => call.kind === "happening");
    for (const call of this.calls) {
      if (call.kind !== "request" || call.answer !== undefined || this.#place.kind === "postgres")
        continue;
      const end = ends.find(({ returnMs }) => returnMs >= call.callMs);
      if (end !== undefined) call.returnMs = end.returnMs;
    }
  }
}

/** The command line of an order. */
function argsOf(order: Order, keys: Keys): string[] {
  switch (order.do) {
    case "update": {
      const { name, categoryId, status } = order.set;
      const options = { "--name": name, "--category": categoryId, "--status": status };
      return ["pets", "update", ...order.ids.map(String), ...given(options)];
    }
    case "remove":
      return ["pets", "remove", ...order.ids.map(String), "--yes"];
    case "restore":
      return ["pets", "restore", String(order.id)];
    case "undo":
      return ["undo", "--yes"];
    case "change key": {
      const { id } = keys[order.key as KeyName];
      const { isRevoked, readOnly, perMinute, perDay } = order.set;
      if (isRevoked) return ["keys", "revoke", id, "--yes"];
      const limits = given({ "--per-minute": perMinute, "--per-day": perDay });
      const access = readOnly ? "--read-only" : "--read-write";
      return ["keys", "update", id, ...(readOnly === undefined ? limits : [access])];
    }
  }
}

const given = (options: Readonly<Record<string, string | number | undefined>>): string[] =>
  Object.entries(options).flatMap(([flag, value]) =>
    value === undefined ? [] : [flag, String(value)],
  );

function textOf(asked: Asked, secret: string): string {
  if (asked.do === "get") return requestText("GET", `/v1/pets/${asked.id}`, secret);
  if (asked.do === "list") {
    const { limit, status, after } = asked;
    const filter = status === undefined ? "" : `&status=${status}`;
    const from = after === undefined ? "" : `&after=${after}`;
    return requestText("GET", `/v1/pets?limit=${limit}${filter}${from}`, secret);
  }
  const text = requestText("POST", "/v1/pets", secret, JSON.stringify(asked.pet));
  return asked.once === undefined
    ? text
    : text.replace("\r\n", `\r\nIdempotency-Key: ${asked.once}\r\n`);
}

function answerOf({
  status,
  headers,
  body,
}: Exclude<Awaited<ReturnType<Client["send"]>>, string>): Answer {
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, "im").exec(headers)?.[1]?.trim();
  const retryAfter = header("retry-after");
  return {
    status,
    body: JSON.parse(body) as unknown,
    limit: Number(header("x-ratelimit-limit")),
    remaining: Number(header("x-ratelimit-remaining")),
    resetSeconds: Number(header("x-ratelimit-reset")),
    retryAfterSeconds: retryAfter === undefined ? undefined : Number(retryAfter),
    isReplay: header("idempotent-replayed") === "true",
    hasNext: /rel="next"/.test(header("link") ?? ""),
  };
}
