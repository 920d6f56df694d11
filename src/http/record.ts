import { clientAddress, type Cidr } from "../domain/address.ts";
import type { Admission, Refusal } from "../service/admission.ts";

/** What asks for a connection's address: Bun's server. */
export interface Peers {
  requestIP(request: Request): { readonly address: string } | null;
}

/**
 * One request as it is told afterwards: to the log, to the metrics, and by its id to the caller. The gate, the routes
 * and the error table fill it in; whoever watches reads it when the request is answered.
 */
export class RequestRecord {
  readonly id: string;
  readonly startMs: number;
  readonly #request: Request;
  readonly #peers: Peers | null;
  readonly #trustedProxies: readonly Cidr[];
  #address: string | undefined;
  #isLocated = false;
  /** The template of the route, such as `/v1/pets/:petId`; undefined where there is none. Never the path itself. */
  route: string | undefined;
  /** What the gate decided; undefined for what does not pass it. */
  admission: Admission | undefined = undefined;
  /** Why the request was refused, by the gate or later. */
  refusal: Refusal | undefined = undefined;
  /** The length of the answer's body, where it is known. */
  bytes: number | undefined = undefined;

  constructor(
    request: Request,
    options: { id: string; startMs: number; peers: Peers | null; trustedProxies: readonly Cidr[] },
  ) {
    this.id = options.id;
    this.startMs = options.startMs;
    this.#request = request;
    this.#peers = options.peers;
    this.#trustedProxies = options.trustedProxies;
  }

  /** The client's address, behind trusted proxies too; undefined where there is none (a Unix socket). */
  address(): string | undefined {
    if (this.#isLocated) return this.#address;
    this.#isLocated = true;
    const peer = this.#peers?.requestIP(this.#request)?.address;
    if (peer !== undefined) {
      const forwardedFor =
        this.#trustedProxies.length === 0 ? null : this.#request.headers.get("x-forwarded-for");
      this.#address = clientAddress(peer, forwardedFor, this.#trustedProxies);
    }
    return this.#address;
  }
}

const recordKey = Symbol("the record of a request");
type Recorded = Request & { [recordKey]?: RequestRecord };

export function attachRecord(request: Request, record: RequestRecord): void {
  (request as Recorded)[recordKey] = record;
}

/** The record of `request`. Throws for a request that did not come in through the application. */
export function recordOf(request: Request): RequestRecord {
  const record = (request as Recorded)[recordKey];
  if (record === undefined) throw new Error("the request has no record");
  return record;
}
