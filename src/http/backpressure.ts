import { bucketOfText } from "../domain/address.ts";
import type { RequestContext } from "./context.ts";

/** A smaller body is not counted: the buffers of the system take it at once. */
const countedFromBytes = 16 * 1024;
/** Below this nobody has to be looked for who has read everything. */
const lookFromBytes = 4 * 1024 * 1024;

export const unsentMaxBytes = { inAll: 64 * 1024 * 1024, perAddress: 16 * 1024 * 1024 } as const;

type Receiver = Pick<RequestContext, "address" | "isUnderWay">;

interface Sending {
  readonly receiver: Receiver;
  readonly bucket: string | undefined;
  readonly body: Blob;
}

/**
 * The large responses that clients have not read yet: they stay in memory. Bun reports only when a
 * whole response is sent, so a body counts in full until then. Shared bodies count once.
 */
export class Backpressure {
  #sending: Sending[] = [];
  /** No less than the bytes of all that is on its way. */
  #bytes = 0;

  /** Counts `body`. Returns false, and counts nothing, when it would be too much. */
  add(receiver: Receiver, body: Blob): boolean {
    const { size } = body;
    if (size < countedFromBytes) return true;
    const bucket = bucketOfText(receiver.address());
    if (this.#bytes + size > lookFromBytes) {
      this.#look();
      if (!this.#hasRoom(bucket, body)) return false;
    }
    this.#sending.push({ receiver, bucket, body });
    this.#bytes += size;
    return true;
  }

  #look(): void {
    this.#sending = this.#sending.filter(({ receiver }) => receiver.isUnderWay());
    this.#bytes = bytesOf(this.#sending);
  }

  /** The first one for an address may be larger than what one may have. */
  #hasRoom(bucket: string | undefined, body: Blob): boolean {
    const toSame = this.#sending.filter((each) => each.bucket === bucket);
    const own = bytesOf(toSame, body);
    const all = bytesOf(this.#sending, body);
    const { inAll, perAddress } = unsentMaxBytes;
    return (own <= perAddress || own === body.size) && all <= inAll;
  }
}

function bytesOf(sending: readonly Sending[], more?: Blob): number {
  const bodies = new Set(sending.map(({ body }) => body));
  if (more !== undefined) bodies.add(more);
  let bytes = 0;
  for (const { size } of bodies) bytes += size;
  return bytes;
}
