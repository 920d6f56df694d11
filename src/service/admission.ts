import type { ApiKey } from "../domain/api-key.ts";
import type { ErrorKind } from "../domain/errors.ts";
import type { WindowView } from "../domain/windows.ts";

/** Why a request is not served: a value, because refusing is part of the job. */
export interface Refusal {
  readonly kind: ErrorKind;
  /** One sentence for the caller. */
  readonly message: string;
  readonly retryAfterSeconds?: number | undefined;
  /** What the operator's log says beyond it, such as which way a credential was bad. Never shown to the caller. */
  readonly detail?: string | undefined;
}

/** What the gate decided: whose numbers the headers show, and why not, if not. */
export interface Admission {
  readonly view: WindowView;
  /** The key that the caller named, though it may be revoked or expired; undefined without one that was ever good. */
  readonly key: ApiKey | undefined;
  readonly refusal: Refusal | undefined;
}
