/** The kinds of settings: how the text of a flag or a variable is read, and what a valid one is. */

/** One setting: flag, default, and how its text is read. Its variable is `REHOME_` and the flag. */
export interface Setting<T> {
  readonly flag: string;
  /** What stands for the value in a usage line; absent for a switch. */
  readonly placeholder?: string;
  readonly description: string;
  readonly default: T;
  /** Reads the text of a flag or a variable. Returns undefined when it is not valid. */
  readonly parse: (text: string) => T | undefined;
  /** What a valid value is, as the end of a sentence. */
  readonly rule: string;
  /** How the text is shown, where not all of it may be. */
  readonly shown?: (text: string) => string;
  /** True for what only one of several serving processes can have, such as its own address. */
  readonly firstOnly?: true;
}

/** A setting of any kind of value. */
export type AnySetting = Setting<unknown>;

/** Any text that is not empty. */
export function text(
  flag: string,
  placeholder: string,
  description: string,
): Setting<string | undefined> {
  return {
    flag,
    placeholder,
    description,
    default: undefined,
    rule: "must not be empty",
    parse: (value) => (value === "" ? undefined : value),
  };
}

/** A host name or an address. One of IPv6 may stand in brackets, which are left out. */
export function host(flag: string, description: string, fallback: string): Setting<string> {
  return {
    ...text(flag, "ADDRESS", description),
    default: fallback,
    parse: (value) => value.replace(/^\[([\da-fA-F:.]+)\]$/, "$1") || undefined,
  };
}

/** A whole number within bounds. */
export function integer(
  flag: string,
  placeholder: string,
  description: string,
  bounds: { default: number; min: number; max: number },
): Setting<number> {
  return {
    flag,
    placeholder,
    description,
    default: bounds.default,
    rule: `must be a whole number from ${bounds.min} to ${bounds.max}`,
    parse(value) {
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
      return number >= bounds.min && number <= bounds.max ? number : undefined;
    },
  };
}

/** One of a few words. */
export function oneOf<T extends string>(
  flag: string,
  description: string,
  values: readonly T[],
  fallback: T,
): Setting<T> {
  return {
    flag,
    placeholder: values.join("|"),
    description,
    default: fallback,
    rule: `must be one of ${values.join(", ")}`,
    parse: (value) => values.find((candidate) => candidate === value),
  };
}

/** A switch: on when its flag is there. */
export function toggle(flag: string, description: string): Setting<boolean> {
  return {
    flag,
    description,
    default: false,
    rule: "must be true or false",
    parse: (value) => ({ true: true, "1": true, false: false, "0": false })[value],
  };
}

/** Several values, each read by `item`. */
export function list<T>(
  flag: string,
  placeholder: string,
  description: string,
  rule: string,
  item: (text: string) => T | undefined,
): Setting<readonly T[]> {
  return {
    flag,
    placeholder,
    description: `${description} (repeatable; in the environment separated by commas)`,
    default: [],
    rule,
    parse(value) {
      const items = value.split(",").map((part) => item(part.trim()));
      return items.includes(undefined) ? undefined : (items as T[]);
    },
  };
}

/** A base address as the specification has it: it ends in /v1. It is kept in ASCII, for headers. */
export function baseAddress(flag: string, description: string): Setting<string | undefined> {
  return {
    flag,
    placeholder: "URL",
    description,
    default: undefined,
    rule: "must be an http or https address that ends in /v1, without a password",
    parse(value) {
      if (!/^https?:\/\/[^\s?#]+\/v1$/.test(value) || !URL.canParse(value)) return undefined;
      const { href, username, password } = new URL(value);
      // Every caller is shown it: no place for a secret.
      if (username !== "" || password !== "") return undefined;
      return href.endsWith("/v1") ? href : undefined;
    },
  };
}

/** A web origin (RFC 6454), or `*` for all of them. Undefined when it is none. */
export function origin(value: string): string | undefined {
  if (value === "*") return value;
  return URL.canParse(value) && new URL(value).origin === value ? value : undefined;
}

/** The address of a database without its password. */
export function withoutPassword(address: string): string {
  return address
    .replace(/^(\w+:\/\/[^:/?#]*):.*@/s, "$1:***@")
    .replace(/([?&]\w*password=)[^&#]*/gi, "$1***");
}
