/**
 * Reads the HTTP/1.1 messages (RFC 9112) off the bytes of a connection as they pass, without
 * touching them. What the grammar forbids is not guessed at: from there on a connection has no
 * requests any more.
 */

export interface Request {
  readonly method: string;
  readonly target: string;
  /** By lower-case name; one that stands there more than once is joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** What came before its answer was whole; undefined if incomplete or too much to keep. */
  readonly body: Buffer | undefined;
}

/** What stands for the status of an answer that is no HTTP/1.1. */
export const noStatus = 0;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A whole answer, and the request that it is the answer to, if that was well-formed. */
export interface Exchange {
  readonly request: Request | undefined;
  readonly answer: Answer;
}

interface Head {
  readonly startLine: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How often each stands there. */
  readonly counts: ReadonlyMap<string, number>;
}

/** How long a body is: a number of bytes, or until something says so. */
type Length = number | "chunked" | "until close";

interface Handlers {
  /** Says how long the body is, or undefined when the head is none. */
  head(head: Head): Length | undefined;
  body(bytes: Buffer): void;
  end(): void;
  malformed(): void;
}

/** More than any server takes as a head. */
const headMaxBytes = 64 * 1024;
const lineEnd = Buffer.from("\r\n");
const headEnd = Buffer.from("\r\n\r\n");
const headerPattern = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*$/;

type State = "head" | "body" | "chunk size" | "chunk end" | "trailers" | "until close" | "over";

/** One direction of a connection. */
class MessageReader {
  #state: State = "head";
  #kept: Buffer = Buffer.alloc(0);
  #leftBytes = 0;
  #isChunked = false;
  readonly #handlers: Handlers;

  constructor(handlers: Handlers) {
    this.#handlers = handlers;
  }

  push(bytes: Buffer): void {
    let rest = this.#kept.length === 0 ? bytes : Buffer.concat([this.#kept, bytes]);
    this.#kept = Buffer.alloc(0);
    while (rest.length > 0 && this.#state !== "over") {
      const taken = this.#take(rest);
      if (taken === 0) {
        this.#kept = rest;
        if (rest.length > headMaxBytes) this.#fail();
        return;
      }
      rest = rest.subarray(taken);
    }
  }

  /** The other side sends nothing more. */
  close(): void {
    if (this.#state === "until close") this.#handlers.end();
    this.#state = "over";
  }

  /** How many bytes of `rest` are dealt with; 0 when it takes more of them. */
  #take(rest: Buffer): number {
    switch (this.#state) {
      case "head":
        return this.#takeHead(rest);
      case "body":
        return this.#takeBody(rest);
      case "until close":
        this.#handlers.body(rest);
        return rest.length;
      default:
        return this.#takeLine(rest);
    }
  }

  #takeHead(rest: Buffer): number {
    // An empty line before a request is to be passed over (RFC 9112, section 2.2).
    if (rest.subarray(0, 2).equals(lineEnd)) return 2;
    const end = rest.indexOf(headEnd);
    if (end === -1) return 0;
    const head = parseHead(rest.toString("latin1", 0, end));
    const length = head === undefined ? undefined : this.#handlers.head(head);
    if (length === undefined) this.#fail();
    else this.#await(length);
    return end + headEnd.length;
  }

  #await(length: Length): void {
    this.#isChunked = length === "chunked";
    if (length === "chunked") this.#state = "chunk size";
    else if (length === "until close") this.#state = "until close";
    else if (length === 0) this.#finish();
    else {
      this.#leftBytes = length;
      this.#state = "body";
    }
  }

  #takeBody(rest: Buffer): number {
    const bytes = rest.subarray(0, this.#leftBytes);
    this.#handlers.body(bytes);
    this.#leftBytes -= bytes.length;
    if (this.#leftBytes === 0) {
      if (this.#isChunked) this.#state = "chunk end";
      else this.#finish();
    }
    return bytes.length;
  }

  #takeLine(rest: Buffer): number {
    const end = rest.indexOf(lineEnd);
    if (end === -1) return 0;
    const line = rest.toString("latin1", 0, end);
    if (this.#state === "trailers") {
      if (line === "") this.#finish();
    } else if (this.#state === "chunk end") {
      if (line === "") this.#state = "chunk size";
      else this.#fail();
    } else if (/^[0-9a-f]{1,12}[ \t]*(;.*)?$/i.test(line)) {
      this.#leftBytes = Number.parseInt(line, 16);
      this.#state = this.#leftBytes === 0 ? "trailers" : "body";
    } else this.#fail();
    return end + lineEnd.length;
  }

  #finish(): void {
    this.#state = "head";
    this.#handlers.end();
  }

  #fail(): void {
    this.#state = "over";
    this.#handlers.malformed();
  }
}

function parseHead(text: string): Head | undefined {
  const [startLine = "", ...lines] = text.split("\r\n");
  const headers: Record<string, string> = {};
  const counts = new Map<string, number>();
  for (const line of lines) {
    const [, field = "", value = ""] = headerPattern.exec(line) ?? [];
    if (field === "") return undefined;
    const name = field.toLowerCase();
    headers[name] = counts.has(name) ? `${headers[name]}, ${value}` : value;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return { startLine, headers, counts };
}

/** As a header says; undefined when two disagree or one says nothing (RFC 9112, 6.3). */
function announcedLength({ headers, counts }: Head): Length | undefined {
  const coding = headers["transfer-encoding"];
  const length = headers["content-length"];
  if (coding !== undefined) {
    return length === undefined && coding.toLowerCase() === "chunked" ? "chunked" : undefined;
  }
  if (length === undefined) return 0;
  const isNumber = counts.get("content-length") === 1 && /^\d{1,15}$/.test(length);
  return isNumber ? Number(length) : undefined;
}

const requestLine =
  /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\/[A-Za-z0-9._~!$&'()*+,;=:@%/?[\]-]*) HTTP\/1\.1$/;
const hostPattern = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+,;=%-]+)(:\d*)?$/;
/** No body that is accepted is larger. */
const keptMaxBytes = 64 * 1024;
/** Bun refuses a longer one by itself, before the application sees anything of it. */
const servedHeadMaxBytes = 16 * 1024;

interface Asked {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: Buffer[];
  keptBytes: number;
  isWhole: boolean;
  /** Its head was in order, and its body was not. */
  isBroken: boolean;
}

function askedWith({ startLine, headers, counts }: Head): Asked | undefined {
  const [, method, target] = requestLine.exec(startLine) ?? [];
  if (method === undefined || target === undefined) return undefined;
  if (counts.get("host") !== 1 || !hostPattern.test(headers["host"] ?? "")) return undefined;
  const length = Object.entries(headers).reduce((sum, [name, value]) => {
    return sum + name.length + value.length;
  }, startLine.length);
  if (length > servedHeadMaxBytes) return undefined;
  return { method, target, headers, chunks: [], keptBytes: 0, isWhole: false, isBroken: false };
}

function requestOf(asked: Asked): Request {
  const { method, target, headers, chunks, keptBytes, isWhole } = asked;
  const isKept = isWhole && keptBytes <= keptMaxBytes;
  return { method, target, headers, body: isKept ? Buffer.concat(chunks) : undefined };
}

interface ConnectionReader {
  readonly request: { push(bytes: Buffer): void; close(): void };
  readonly answer: { push(bytes: Buffer): void; close(): void };
}

/** Both directions of a connection: hands every whole answer on, with its request. */
export function readConnection(onExchange: (exchange: Exchange) => void): ConnectionReader {
  const waiting: Asked[] = [];
  let sending: Asked | undefined;
  const request = new MessageReader({
    head(head) {
      const length = announcedLength(head);
      sending = length === undefined ? undefined : askedWith(head);
      if (sending === undefined) return undefined;
      waiting.push(sending);
      return length;
    },
    body(bytes) {
      if (sending === undefined) return;
      sending.keptBytes += bytes.length;
      // A copy: what passes is not held on to.
      if (sending.keptBytes <= keptMaxBytes) sending.chunks.push(Buffer.from(bytes));
    },
    end() {
      if (sending !== undefined) sending.isWhole = true;
      sending = undefined;
    },
    malformed() {
      if (sending !== undefined) sending.isBroken = true;
    },
  });
  return { request, answer: answerReader(waiting, onExchange) };
}

function answerReader(waiting: Asked[], onExchange: (exchange: Exchange) => void): MessageReader {
  let isInterim = false;
  let asked: Asked | undefined;
  let answer: { status: number; headers: Head["headers"]; chunks: Buffer[] } | undefined;
  const end = () => {
    if (isInterim || answer === undefined) return;
    const { status, headers, chunks } = answer;
    onExchange({
      request: asked === undefined || asked.isBroken ? undefined : requestOf(asked),
      answer: { status, headers, body: Buffer.concat(chunks) },
    });
    answer = undefined;
  };
  return new MessageReader({
    head(head) {
      const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(head.startLine)?.[1]);
      if (Number.isNaN(status)) return undefined;
      isInterim = status < 200;
      if (isInterim) return 0;
      asked = waiting.shift();
      answer = { status, headers: head.headers, chunks: [] };
      if (asked?.method === "HEAD" || status === 204 || status === 304) return 0;
      const isAnnounced = head.counts.has("transfer-encoding") || head.counts.has("content-length");
      return isAnnounced ? announcedLength(head) : "until close";
    },
    body(bytes) {
      answer?.chunks.push(Buffer.from(bytes));
    },
    end,
    malformed() {
      if (answer === undefined) asked = waiting.shift();
      isInterim = false;
      answer = { status: noStatus, headers: {}, chunks: [] };
      end();
    },
  });
}
