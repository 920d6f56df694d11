import { dayMs } from "../../../domain/clock.ts";
import { wordKey } from "./words.ts";

/** Beginnings of the months' names, January first, in the ten languages that are known best. */
const months =
  "jan ene|feb fev|mar mrt maerz maart|apr abr avr|may mai mei|jun juin|jul juil|aug ago aou|sep set|oct okt out|nov|dec dic dez"
    .split("|")
    .map((beginnings) => beginnings.split(" "));

const zone = String.raw`(?<zone>Z|(?:GMT|UTC)?[+-](?:0\d|1[0-4])(?::?[0-5]\d)?(?!\d))?`;
const before = String.raw`T|,?\s+(?:(?:à|at|um|om|às|a\s+las?)\s+)?|,\s*`;
const time = String.raw`(?:(?:${before})(?<hour>\d{1,2})[:.h](?<minute>\d{2})(?:[:.](?<second>\d{2}))?(?:[.,]\d+)?(?:\s*(?<half>[ap])\.?\s?m\.?)?\s*${zone})?`;
const year = String.raw`(?<year>\d{4}|\d{2})(?!\d)${time}`;
/** 3/1/24 and 1.3.2024: the form of most files. Without names, which take longer than the rest. */
const numbers = new RegExp(
  String.raw`^(\d{1,2})([/.-])(\d{1,2})\2${year}`.replaceAll(/\?<\w+>/g, ""),
  "i",
);
/** What else a date may be; the first that fits. */
const patterns = [
  String.raw`^(?<year>\d{4})[-/.](?<month>\d{1,2})[-/.](?<day>\d{1,2})${time}`,
  String.raw`^(?<year>\d{4})(?<month>\d{2})(?<day>\d{2})(?:T?(?<hour>\d{2})(?<minute>\d{2})(?<second>\d{2})?${zone})?$`,
  String.raw`^(?<day>\d{1,2})(?:st|nd|rd|th|er|[.ºª°])?[-/\s]+(?:de\s+)?(?<name>\p{L}+)\.?,?[-/\s]+(?:de\s+)?${year}`,
  String.raw`^(?<day>\d{1,2})\.?(?<name>\p{L}{3,})[.\s]*${year}`,
  String.raw`^(?<name>\p{L}+)\.?[-\s]+(?<day>\d{1,2})(?:st|nd|rd|th)?,?[-\s]+${year}`,
].map((pattern) => new RegExp(pattern, "iu"));
/** Without a comma behind it, it is one only before a day or a month in words. */
const weekday = /^\p{L}+\.?(?:,\s*|\s+(?=(?:\d{1,2}[^\d/]*)?\p{L}))/u;
/** What tells the order of day and month. */
const order = /^(\d{1,2})([/.-])(\d{1,2})\2\d{2}/;

/** Days from Excel's day 0 (1899-12-30) that are dates of our time: 1954 to 2119. */
const [serialMin, serialMax] = [20_000, 80_000];
const excelEpochMs = Date.UTC(1899, 11, 30);
/** Above it a number counts milliseconds, below it seconds, since 1970. */
const [epochSecondsMin, epochSecondsMax] = [1e8, 1e11];
/** The end of the year 9999. Beyond it a number is no time, and soon none that a Date holds. */
const epochMsMax = Date.UTC(10_000, 0) - 1;

/** No date is longer; a text of any length would take the patterns long. */
const charactersMax = 100;
/** Texts whose times are held: most dates of a list stand in it more than once. */
const heldMax = 5_000;

/**
 * Reads times in every form that shelters write: ISO 8601, 3/1/24 and 1.3.2024, 01-Mar-2024, March
 * 1, 2024, 20240301, Unix times and Excel's days. Whether 3/4/2024 has the month or the day first
 * is learnt from values that can only be one.
 */
export class Dates {
  /** What the list tells: a month first stays. */
  #learnt: boolean | undefined;
  readonly #held = new Map<string, number | undefined>();
  /** A date that may be read in two ways; empty if there is none. */
  example = "";

  /** What somebody said, or a list told before; and what holds where nothing tells it. */
  constructor(
    private readonly told?: boolean,
    private readonly usual?: boolean,
  ) {}

  /** True where the day comes first, false where the month does; undefined if nothing tells. */
  get dayFirst(): boolean | undefined {
    return this.told ?? this.#learnt ?? this.usual;
  }

  /** True where a date may be read in two ways, and nothing tells in which. */
  get isOpen(): boolean {
    return this.dayFirst === undefined && this.example !== "";
  }

  /** The time as YYYYMMDDhhmmss, in UTC if it has a zone; undefined if it cannot be read. */
  sortable(value: unknown): number | undefined {
    if (typeof value === "number" || typeof value === "bigint") return ofNumber(Number(value));
    if (typeof value !== "string") return undefined;
    const text = value.trim();
    if (text.length > charactersMax) return undefined;
    if (/^\d{5}(?:\.\d+)?$|^\d{10}$|^\d{13}$/.test(text)) return ofNumber(Number(text));
    if (this.#held.size === heldMax) this.#held.clear();
    return this.#held.getOrInsertComputed(
      text,
      () => this.#ofText(text) ?? this.#ofText(text.replace(weekday, "")),
    );
  }

  /** Learns from a date of a list whether the day or the month comes first. */
  learn(value: unknown): void {
    if (this.#learnt === false || typeof value !== "string") return;
    const text = value.trim();
    const [, first, separator, second] = order.exec(text) ?? [];
    if (first === undefined) return;
    this.#held.clear();
    if (Number(second) > 12) this.#learnt = false;
    else if (Number(first) > 12) this.#learnt = true;
    else if (separator !== "." && first !== second) this.example ||= text;
  }

  #ofText(text: string): number | undefined {
    // Tried first: most are such.
    const found = numbers.exec(text);
    if (found === null) {
      for (const pattern of patterns) {
        const groups = pattern.exec(text)?.groups;
        if (groups !== undefined) return ofGroups(groups);
      }
      return undefined;
    }
    const [, one, separator, other, year, hour, minute, second, half, zone] = found;
    const isDayFirst =
      Number(one) > 12 || (Number(other) <= 12 && (separator === "." || this.dayFirst === true));
    const [day, month] = isDayFirst ? [one, other] : [other, one];
    return ofGroups({ year, month, day, hour, minute, second, half, zone });
  }
}

/** Years that stand for no date at all, and the first day of Unix time. */
const never =
  /^(?:(?:\d{1,2}[/.-]){2}(?:0000|0001|1[0-8]\d\d|19[0-4]\d|2[2-9]\d\d|[3-9]\d{3})|(?:0000|0001|1[0-8]\d\d|19[0-4]\d|2[2-9]\d\d|[3-9]\d{3})(?:[/.-]\d{1,2}){2}|0{8}|1970-01-01(?:T00:00:00.*)?$|0[1/]01?[/.]1970$)(?!\d)/;

export const isNever = (text: string): boolean => never.test(text.trim());

/** The number of a month, from 1; undefined for no name of one. */
export function monthOf(name: string): number | undefined {
  const key = wordKey(name);
  const at = months.findIndex((each) => each.some((beginning) => key.startsWith(beginning)));
  return at < 0 ? undefined : at + 1;
}

function ofNumber(value: number): number | undefined {
  if (value >= serialMin && value <= serialMax) return sortableTime(excelEpochMs + value * dayMs);
  if (value > epochMsMax || value < epochSecondsMin) return undefined;
  return sortableTime(value >= epochSecondsMax ? value : value * 1_000);
}

/** A time as `Dates` has it. */
export function sortableTime(ms: number): number {
  const at = new Date(ms);
  const day = (at.getUTCFullYear() * 100 + at.getUTCMonth() + 1) * 100 + at.getUTCDate();
  return ((day * 100 + at.getUTCHours()) * 100 + at.getUTCMinutes()) * 100 + at.getUTCSeconds();
}

function ofGroups(groups: Readonly<Record<string, string | undefined>>): number | undefined {
  const { year = "", name, day, hour = 0, minute = 0, second = 0, half, zone } = groups;
  const month = Number(name === undefined ? groups["month"] : monthOf(name));
  // Two digits are a year from 1970 to 2069.
  const century = Number(year) < 70 ? 2_000 : 1_900;
  const full = Number(year) + (year.length > 2 ? 0 : century);
  const noon = /p/i.test(half ?? "") ? 12 : 0;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + noon;
  const start = Date.UTC(full, month - 1, Number(day));
  const isDay = Number(day) > 0 && new Date(start).getUTCMonth() === month - 1;
  if (!isDay || hours > 24 || Number(minute) > 59 || Number(second) > 60) return undefined;
  const [, sign, ahead = 0, more = 0] = /([+-])(\d{2}):?(\d{2})?$/.exec(zone ?? "") ?? [];
  const minutesAhead = Number(`${sign ?? ""}1`) * (Number(ahead) * 60 + Number(more));
  const minutes = hours * 60 + Number(minute) - minutesAhead;
  return sortableTime(start + (minutes * 60 + Number(second)) * 1_000);
}
