import type { AnyElysia } from "elysia";
import type { Clock } from "../domain/clock.ts";
import type { Services } from "../service/services.ts";

/** What every path of the interface begins with, and its base address ends with. */
export const versionSegment = "/v1";

/** Since when the operation getPet is deprecated: version 1.0.0. */
export const getPetDeprecatedAtMs = Date.UTC(2026, 10, 21);
export const getPetRemovedAtMs = Date.UTC(2030, 11, 5);
export const getPetRemovedOn = "5 December 2030";

export function isGetPetRemoved(nowMs: number): boolean {
  return nowMs >= getPetRemovedAtMs;
}

export interface EdgeOptions {
  /** The address of /v1 as callers reach it; by default the one that the request came to. */
  readonly baseUrl: string | undefined;
  readonly stagingBaseUrl: string | undefined;
  readonly clock: Clock;
  /** What the documentation page says of other routes, each in CommonMark below a heading. */
  readonly topics?: readonly string[];
}

export type MakeRoutes = (
  options: EdgeOptions & { readonly services: Services },
) => readonly AnyElysia[];

/** Routes outside of `/v1`, and the pages among them that a start tells a person of. */
export interface FeatureRoutes {
  readonly pages: readonly { readonly title: string; readonly path: string }[];
  /** What the documentation page says of them: CommonMark that begins with `## Title`. */
  readonly topic?: string;
  /** Loads them with the web framework, which no command but `serve` needs. */
  readonly load: () => Promise<MakeRoutes>;
}
