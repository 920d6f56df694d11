import { dayMs } from "../../../domain/clock.ts";
import { isSecret, sessionMs, type Secret } from "../secrets.ts";

/** Over HTTPS a `__Host-` cookie comes from this very host, not a neighbour (RFC 6265bis). */
const sessionName = (isSecure: boolean) => `${isSecure ? "__Host-" : ""}rehome_console`;
const languageName = "rehome_language";
/** As long as a browser keeps any (RFC 6265bis). */
const languageDays = 400;

function cookie(headers: Headers, name: string): string | undefined {
  for (const pair of (headers.get("cookie") ?? "").split(";")) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** What a request's session cookie holds: a secret, other text, or undefined for none. */
export function sentSession(headers: Headers, isSecure: boolean): Secret | "malformed" | undefined {
  const text = cookie(headers, sessionName(isSecure));
  if (text === undefined || text === "") return undefined;
  return isSecret(text) ? text : "malformed";
}

/** The value of `Set-Cookie` that begins or renews a session. */
export function sessionCookie(secret: Secret, isSecure: boolean): string {
  return `${sessionName(isSecure)}=${secret}; Path=/; Max-Age=${sessionMs / 1_000}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
}

/** The value of `Set-Cookie` that takes the session away from the browser. */
export function endedCookie(isSecure: boolean): string {
  return `${sessionName(isSecure)}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
}

/** The language that the person chose on this browser, if any. */
export function sentLanguage(headers: Headers): string | undefined {
  return cookie(headers, languageName);
}

export function languageCookie(language: string, isSecure: boolean): string {
  return `${languageName}=${language}; Path=/; Max-Age=${(languageDays * dayMs) / 1_000}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
}
