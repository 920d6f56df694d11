import type { Taken } from "../../../service/anonymous.ts";

/**
 * What a serving process and its supervisor say to each other, as JSON. An answer has its
 * question's id.
 */

/** From a serving process. */
export type MemberMessage =
  /** It listens on this port. */
  | { readonly type: "ready"; readonly port: number }
  /** It wants requests for callers without a key. */
  | { readonly type: "take"; readonly id: number; readonly bucket: string; readonly want: number }
  | { readonly type: "metrics"; readonly id: number; readonly metrics: readonly object[] };

/** From the supervisor. */
export type SupervisorMessage =
  | { readonly type: "taken"; readonly id: number; readonly taken: Taken }
  | { readonly type: "metrics"; readonly id: number }
  | { readonly type: "stop" };
