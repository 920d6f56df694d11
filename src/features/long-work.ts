import type { WorkOptions } from "../storage/database.ts";

/** For an operator's work, which is nobody's request. */
export const longWork: WorkOptions = { timeoutMs: 10 * 60_000 };
