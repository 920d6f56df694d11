import type { AnyElysia } from "elysia";
import type { Clock } from "../domain/clock.ts";

/** What every path of the interface begins with, and its base address ends with. */
export const versionSegment = "/v1";

/**
 * The address of /v1 as callers reach it: `configured`, where the operator named one, else the one
 * that the request to `url` came to. The door saw to it that this is an http address.
 */
export function baseUrlOf(url: string, configured: string | undefined): string {
  return configured ?? url.slice(0, url.indexOf("/", "https://".length)) + versionSegment;
}

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
