import { parseAddress } from "../../../domain/address.ts";

/** What is known of the addresses at which people reach the console. */
export interface KnownHosts {
  /** Names that lead here: the hosts of `--console` and `--console-url`, and the machine's name. */
  readonly names: readonly string[];
  /** True if a proxy or a certificate decides which names lead here. */
  readonly isVouched: boolean;
}

/**
 * True when a page may be served under `host`, the value of a Host header. A page of a stranger can
 * make its own name lead to this machine (DNS rebinding); it cannot do so with an address or with a
 * name of ours.
 */
export function isKnownHost(host: string | null, known: KnownHosts): boolean {
  const name = hostName(host);
  if (name === undefined) return false;
  if (known.isVouched || parseAddress(name) !== undefined) return true;
  return name === "localhost" || name.endsWith(".localhost") || known.names.includes(name);
}

/** The host without its port, in lower case and without brackets. Undefined when it is not one. */
function hostName(host: string | null): string | undefined {
  if (host === null || /[\s/\\@?#]/.test(host)) return undefined;
  const url = `http://${host}/`;
  if (!URL.canParse(url)) return undefined;
  return new URL(url).hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

/**
 * True when a change comes from a page of this origin. Every browser of today says so in `Origin`;
 * where that is missing, `Sec-Fetch-Site` must say it. A contradiction is a refusal.
 */
export function isOwnOrigin(headers: Headers, ownOrigins: readonly string[]): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin") return false;
  const origin = headers.get("origin");
  return origin === null ? site === "same-origin" : ownOrigins.includes(origin);
}

/**
 * True when a page may be shown to this request: it leads nowhere else, and it is not loaded as a
 * part of a stranger's page. A link from elsewhere may open it.
 */
export function isOpenable(headers: Headers): boolean {
  const site = headers.get("sec-fetch-site");
  if (site === null || site === "same-origin" || site === "none") return true;
  return (
    headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document"
  );
}
