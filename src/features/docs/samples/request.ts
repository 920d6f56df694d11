/** A request that code is to be written for. */
export interface SampleRequest {
  readonly method: string;
  /** Percent-encoded, so that no language needs more than quotes around it. */
  readonly url: string;
  /** What the request has beside the key and the type of the body. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** JSON text as somebody typed it. */
  readonly body?: string | undefined;
  /** True if the answer is a list of animals, false where it is one. */
  readonly hasList: boolean;
}

/** True when the request does the same sent twice as sent once. */
export function isRepeatable({ method, headers }: SampleRequest): boolean {
  return method === "GET" || headers.some(([name]) => /^idempotency-key$/i.test(name));
}

/** The statuses after which code sends the request again. After 503 it may have been done. */
export function retried(request: SampleRequest): readonly number[] {
  return isRepeatable(request) ? [429, 503] : [429];
}
