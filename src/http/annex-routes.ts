import type { AnyElysia } from "elysia";
import type { Clock } from "../domain/clock.ts";

/** What routes outside of `/v1` may want to know. */
export interface EdgeOptions {
  /** The address of /v1 as callers reach it; by default the one that the request came to. */
  readonly baseUrl: string | undefined;
  readonly stagingBaseUrl: string | undefined;
  readonly clock: Clock;
}

/** Routes outside of `/v1`, and the pages among them that a start tells a person of. */
export interface AnnexRoutes {
  readonly pages: readonly { readonly title: string; readonly path: string }[];
  readonly make: (options: EdgeOptions) => readonly AnyElysia[];
}
