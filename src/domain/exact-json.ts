import { int64OfJsonNumber } from "./int64.ts";

declare global {
  // ECMAScript's JSON.parse source text access, which TypeScript's library does not declare yet.
  interface JSON {
    rawJSON(text: string): unknown;
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

export const nestingMax = 512;

/**
 * A number whose nearest double might be another number: it has an exponent, or 16 characters.
 * Every double keeps 15 digits.
 */
const mayBeInexact = /(?:^|[:,[])\s*-?\d(?:[\d.]{15}|[\d.]*[eE])/;

/**
 * Parses JSON (RFC 8259). An int64 is a number where a double is exact, else a bigint; `1.0` and
 * `1e3` are integers. Other numbers become `JSON.rawJSON`, which is written back unchanged. Throws
 * SyntaxError, or RangeError if it is nested too deeply.
 */
export function parseJson(text: string): unknown {
  // The reviver costs several times the parsing, so only text that needs it pays for it.
  return mayBeInexact.test(text) ? JSON.parse(text, exactly) : JSON.parse(text);
}

function exactly(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== "number" || source === undefined || !mayBeInexact.test(source)) return value;
  const int64 = int64OfJsonNumber(source);
  if (int64 !== undefined) {
    const number = Number(int64);
    return Number.isSafeInteger(number) ? number : int64;
  }
  const isFraction = Number.isFinite(value) && !Number.isInteger(value);
  return isFraction ? value : JSON.rawJSON(source);
}

/** `value` as JSON text, with bigints as numbers; on several lines when `indent` is given. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, exactNumber, indent);
}

function exactNumber(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? JSON.rawJSON(value.toString()) : value;
}

/** True for a JSON object of `parseJson`: no list, no null, no number from `JSON.rawJSON`. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)
  );
}

/** True when lists and objects are nested more than `levels` deep in `value`. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null || JSON.isRawJSON(value)) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner));
}
