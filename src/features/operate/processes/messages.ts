import type { Taken } from "../../../service/anonymous.ts";

/** What a process and its supervisor say to each other. An answer has its question's id. */

/** Set in the environment of every serving process but the first one, which warns for all. */
export const otherWarnsVariable = "SUPERVISOR_WARNED_BY_OTHER";

export type MemberMessage =
  /** It listens on this port. */
  | { readonly type: "ready"; readonly port: number }
  /** It wants requests for callers without a key. */
  | { readonly type: "take"; readonly id: number; readonly bucket: string; readonly want: number }
  | { readonly type: "metrics"; readonly id: number; readonly metrics: readonly object[] };

export type SupervisorMessage =
  | { readonly type: "taken"; readonly id: number; readonly taken: Taken }
  | { readonly type: "metrics"; readonly id: number }
  | { readonly type: "stop" };
