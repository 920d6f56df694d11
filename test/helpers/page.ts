/** What a page may do, from its headers and its text. */
import { createHash } from "node:crypto";

/** The directives of a Content-Security-Policy header. */
export function policyOf(headers: Headers): Map<string, string> {
  const policy = headers.get("content-security-policy") ?? "";
  return new Map(
    policy.split("; ").map((directive) => {
      const at = directive.indexOf(" ");
      return [directive.slice(0, at), directive.slice(at + 1)];
    }),
  );
}

/** The sources that a policy must name for the elements `name` of a page to have an effect. */
export function hashesOf(page: string, name: "style" | "script"): string[] {
  const elements = page.matchAll(new RegExp(`<${name}(?: [^>]*)?>(.*?)</${name}>`, "gs"));
  return [...elements].map(
    ([, text = ""]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`,
  );
}

/** Every address that a browser would fetch for the page, or that a reader could follow. */
export function addressesIn(page: string): string[] {
  const attributes = page.matchAll(/\s(?:href|src|srcset|action|data|poster)="([^"]*)"/g);
  const styles = page.matchAll(/url\(([^)]*)\)|@import\s+([^;]*)/g);
  return [...attributes, ...styles].map(([, first, second]) => first ?? second ?? "");
}
