/** What every path of the interface begins with, and its base address ends with. */
export const versionSegment = "/v1";

/**
 * The address of /v1 as callers reach it: `configured`, where the operator named one, else the one that the request to `url`
 * came to. The host check saw to it that this is an http address.
 */
export function baseUrlOf(url: string, configured: string | undefined): string {
  return configured ?? url.slice(0, url.indexOf("/", "https://".length)) + versionSegment;
}
