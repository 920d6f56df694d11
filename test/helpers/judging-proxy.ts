/**
 * Stands between tests and the servers that they start: passes every byte on as it came, and has
 * each answer judged. It is asked for proxies over HTTP, so that the tests may run in another
 * process (see behind-proxy.ts).
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { readConnection, type Exchange } from "./http-wire.ts";
import type { Judge, Verdict } from "./prism.ts";

/** Servers under test listen there, or everywhere. */
const loopback = "127.0.0.1";
/** As many connections as any test opens at once may wait to be met. */
const backlogMax = 4_096;

export interface Findings {
  /** How many answers were judged, by operation and status. */
  readonly judged: ReadonlyMap<string, number>;
  /** How many answers are none of the document's, by reason. */
  readonly outside: ReadonlyMap<string, number>;
  /** How often each violation was seen. */
  readonly violations: ReadonlyMap<string, number>;
}

interface JudgingProxy {
  /** Proxies are asked for here: POST the origin of a server, and get the origin to use. */
  readonly control: string;
  /** Ends every connection, and resolves when all answers are judged. */
  stop(): Promise<Findings>;
}

export function judgingProxy(judge: Judge): JudgingProxy {
  const court = new Court(judge);
  const guards = new Map<string, Guard>();
  const control = Bun.serve({
    hostname: loopback,
    port: 0,
    async fetch(request) {
      const target = await request.text();
      const guard = guards.getOrInsertComputed(target, () => new Guard(target, court));
      return new Response(`http://${loopback}:${await guard.open()}`);
    },
  });
  return {
    control: control.url.origin,
    async stop() {
      await control.stop(true);
      for (const guard of guards.values()) guard.close();
      return court.close();
    },
  };
}

/** The way to one server. */
class Guard {
  #listener: Server | undefined;
  #port = 0;
  readonly #sockets = new Set<Socket>();
  readonly #targetPort: number;
  readonly #court: Court;

  constructor(target: string, court: Court) {
    this.#targetPort = Number(new URL(target).port);
    this.#court = court;
  }

  /** The port that leads to the server. */
  async open(): Promise<number> {
    if (this.#listener !== undefined) return this.#port;
    const listener = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
      this.#connect(near);
    });
    this.#listener = listener;
    listener.listen(this.#port, loopback, backlogMax);
    await new Promise((resolve, reject) => {
      listener.once("listening", resolve);
      listener.once("error", reject);
    });
    this.#port = (listener.address() as AddressInfo).port;
    return this.#port;
  }

  close(): void {
    this.#stopListening();
    for (const socket of this.#sockets) socket.destroy();
  }

  #connect(near: Socket): void {
    const far = connect({
      host: loopback,
      port: this.#targetPort,
      // Limits go by the caller's address.
      localAddress: near.remoteAddress,
      allowHalfOpen: true,
      noDelay: true,
    });
    const reader = readConnection((exchange) => this.#court.take(exchange));
    far.on("error", (error: Error & { code?: string }) => {
      if (error.code === "ECONNREFUSED") this.#stopListening();
    });
    pass(near, far, reader.request);
    pass(far, near, reader.answer);
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    }
  }

  /** The server is gone: whoever comes next is refused, as it would be without a proxy. */
  #stopListening(): void {
    this.#listener?.close();
    this.#listener = undefined;
  }
}

/** Everything that comes from `from` goes to `to`: bytes, the end of them, a reset. */
function pass(
  from: Socket,
  to: Socket,
  reader: { push(bytes: Buffer): void; close(): void },
): void {
  let isEnded = false;
  from.on("data", (bytes: Buffer) => {
    reader.push(bytes);
    if (!to.destroyed && !to.write(bytes)) from.pause();
  });
  to.on("drain", () => from.resume());
  from.on("end", () => {
    isEnded = true;
    reader.close();
    to.end();
  });
  from.on("error", () => to.resetAndDestroy());
  from.on("close", () => {
    reader.close();
    if (!isEnded) to.resetAndDestroy();
  });
}

/** Judges one answer after the other, whenever nothing has to be passed on. */
class Court {
  readonly #waiting: Exchange[] = [];
  readonly #judge: Judge;
  readonly #judged = new Map<string, number>();
  readonly #outside = new Map<string, number>();
  readonly #violations = new Map<string, number>();
  #session: Promise<void> | undefined;

  constructor(judge: Judge) {
    this.#judge = judge;
  }

  take(exchange: Exchange): void {
    this.#waiting.push(exchange);
    this.#session ??= this.#sit();
  }

  async close(): Promise<Findings> {
    while (this.#session !== undefined) await this.#session;
    return { judged: this.#judged, outside: this.#outside, violations: this.#violations };
  }

  async #verdictOn(exchange: Exchange): Promise<Verdict> {
    try {
      return await this.#judge(exchange);
    } catch (error) {
      const { method = "", target = "" } = exchange.request ?? {};
      return { violations: [`${method} ${target} cannot be judged: ${String(error)}`] };
    }
  }

  async #sit(): Promise<void> {
    for (let next = 0; next < this.#waiting.length; next += 1) {
      await new Promise(setImmediate);
      const { judged, outside, violations } = await this.#verdictOn(this.#waiting[next]!);
      if (judged !== undefined) count(this.#judged, judged);
      if (outside !== undefined) count(this.#outside, outside);
      for (const violation of violations) count(this.#violations, violation);
    }
    this.#waiting.length = 0;
    this.#session = undefined;
  }
}

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}
