import { dayMs, isoSeconds } from "../../../domain/clock.ts";
import { wordKey } from "./words.ts";

/** Beginnings of the months' names, January first, in the languages of `statuses.ts`. */
const months = [
  "jan ene",
  "feb fev",
  "mar mrt maerz maart",
  "apr abr avr",
  "may mai mei",
  "jun juin",
  "jul juil",
  "aug ago aou",
  "sep set",
  "oct okt out",
  "nov",
  "dec dic dez",
].map((beginnings) => beginnings.split(" "));

const zone = String.raw`(Z|(?:GMT|UTC)?[+-](?:0\d|1[0-4])(?::?[0-5]\d)?(?!\d))?`;
const before = String.raw`T|,?\s+(?:(?:à|at|um|om|às|a\s+las?)\s+)?|,\s*`;
const time = String.raw`(?:(?:${before})(\d{1,2})[:.h](\d{2})(?:[:.](\d{2}))?(?:[.,]\d+)?(?:\s*([ap])\.?\s?m\.?)?\s*${zone})?`;
const year = String.raw`(\d{4}|\d{2})`;
const yearFirst = new RegExp(String.raw`^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})${time}`, "i");
const compact = new RegExp(
  String.raw`^(\d{4})(\d{2})(\d{2})(?:T?(\d{2})(\d{2})(\d{2})?${zone})?$`,
  "i",
);
const numbers = new RegExp(String.raw`^(\d{1,2})([/.-])(\d{1,2})\2${year}(?!\d)${time}`, "i");
/** Without a comma behind it, it is one only before a day or a month in words. */
const weekday = /^\p{L}+\.?(?:,\s*|\s+(?=(?:\d{1,2}[^\d/]*)?\p{L}))/u;
const dayMonth = new RegExp(
  String.raw`^(\d{1,2})(?:st|nd|rd|th|er|[.ºª°])?[-/\s]+(?:de\s+)?(\p{L}+)\.?,?[-/\s]+(?:de\s+)?${year}(?!\d)${time}`,
  "iu",
);
const dayMonthJoined = new RegExp(
  String.raw`^(\d{1,2})\.?(\p{L}{3,})[.\s]*${year}(?!\d)${time}`,
  "iu",
);
const monthDay = new RegExp(
  String.raw`^(\p{L}+)\.?[-\s]+(\d{1,2})(?:st|nd|rd|th)?,?[-\s]+${year}(?!\d)${time}`,
  "iu",
);

/** Days from Excel's day 0 (1899-12-30) that are dates of our time: 1954 to 2119. */
const serialMin = 20_000;
const serialMax = 80_000;
const excelEpochMs = Date.UTC(1899, 11, 30);
/** Above it a number counts milliseconds, below it seconds, since 1970. */
const epochSecondsMax = 1e11;
const epochSecondsMin = 1e8;
/** The end of the year 9999. Beyond it a number is no time, and soon none that a Date holds. */
const epochMsMax = Date.UTC(10_000, 0) - 1;

/** No date is longer; a text of any length would take the patterns long. */
const charactersMax = 100;

/**
 * Reads times in every form that shelters write: ISO 8601, 3/1/24 and 1.3.2024, 01-Mar-2024, March
 * 1, 2024, 20240301, Unix times and Excel's days. Whether 3/4/2024 has the month or the day first
 * is learnt from values that can only be one.
 */
export class Dates {
  #dayFirst = 0;
  #monthFirst = 0;

  /** The time as YYYYMMDDhhmmss, in UTC if it has a zone; undefined if it cannot be read. */
  sortable(value: unknown): number | undefined {
    if (typeof value === "number" || typeof value === "bigint") return ofNumber(Number(value));
    if (typeof value !== "string") return undefined;
    const text = value.trim();
    if (text.length > charactersMax) return undefined;
    if (/^\d{5}(?:\.\d+)?$|^\d{10}$|^\d{13}$/.test(text)) return ofNumber(Number(text));
    return this.#ofText(text) ?? this.#ofText(text.replace(weekday, ""));
  }

  /** Learns from a date of a list whether the day or the month comes first. */
  learn(value: unknown): void {
    const match = typeof value === "string" ? numbers.exec(value.trim()) : null;
    if (match === null) return;
    if (Number(match[1]) > 12) this.#dayFirst += 1;
    if (Number(match[3]) > 12) this.#monthFirst += 1;
  }

  #ofText(text: string): number | undefined {
    // The form of most files, and so the first to be tried.
    const numeric = numbers.exec(text);
    if (numeric !== null) return this.#ofNumbers(numeric);
    const iso = yearFirst.exec(text);
    if (iso !== null) return sortable([iso[1], iso[2], iso[3]], iso.slice(4));
    const digits = compact.exec(text);
    if (digits !== null) {
      const clock = [...digits.slice(4, 7), undefined, digits[7]];
      return sortable([digits[1], digits[2], digits[3]], clock);
    }
    const dayMonthYear = dayMonth.exec(text) ?? dayMonthJoined.exec(text);
    if (dayMonthYear !== null) {
      const [, day, month = "", years] = dayMonthYear;
      return sortable([years, monthOf(month), day], dayMonthYear.slice(4));
    }
    const monthDayYear = monthDay.exec(text);
    if (monthDayYear === null) return undefined;
    const [, month = "", day, years] = monthDayYear;
    return sortable([years, monthOf(month), day], monthDayYear.slice(4));
  }

  #ofNumbers(match: RegExpExecArray): number | undefined {
    const [, first, separator, second, years] = match;
    const clock = match.slice(5);
    const isDayFirst =
      Number(first) > 12 ||
      (Number(second) <= 12 &&
        (separator === "." || (this.#dayFirst > 0 && this.#monthFirst === 0)));
    return isDayFirst
      ? sortable([years, second, first], clock)
      : sortable([years, first, second], clock);
  }
}

export function monthOf(name: string): string | undefined {
  const key = wordKey(name);
  const at = months.findIndex((each) => each.some((beginning) => key.startsWith(beginning)));
  return at < 0 ? undefined : String(at + 1);
}

function ofNumber(value: number): number | undefined {
  if (value >= serialMin && value <= serialMax) return ofMs(excelEpochMs + value * dayMs);
  if (value > epochMsMax) return undefined;
  if (value >= epochSecondsMax) return ofMs(value);
  return value >= epochSecondsMin ? ofMs(value * 1_000) : undefined;
}

function ofMs(ms: number): number {
  return Number(isoSeconds(Math.floor(ms)).replaceAll(/\D/g, ""));
}

/** Takes year, month, day, and hour, minute, second, `a` or `p`, zone. Undefined for no time. */
function sortable(
  date: readonly (string | undefined)[],
  [hourText = "0", minuteText = "0", secondText = "0", half, offset]: readonly (
    string | undefined
  )[],
): number | undefined {
  const [yearText = "", monthText, dayText] = date;
  const [month, day] = [Number(monthText), Number(dayText)];
  const hour = half === undefined ? Number(hourText) : (Number(hourText) % 12) + afternoon(half);
  const [minute, second] = [Number(minuteText), Number(secondText)];
  const full = fullYear(yearText);
  const isDay = month >= 1 && month <= 12 && day >= 1 && (day <= 28 || day <= daysOf(full, month));
  if (!isDay || !(hour <= 24 && minute <= 59 && second <= 60)) return undefined;
  const minutes = offsetMinutes(offset);
  if (minutes !== 0) return ofMs(Date.UTC(full, month - 1, day, hour, minute - minutes, second));
  const days = (full * 100 + month) * 100 + day;
  return ((days * 100 + hour) * 100 + minute) * 100 + second;
}

function daysOf(fullYear: number, month: number): number {
  return (Date.UTC(fullYear, month) - Date.UTC(fullYear, month - 1)) / dayMs;
}

/** How far a zone such as `-05:00` is ahead of UTC. */
function offsetMinutes(zone: string | undefined): number {
  const [, sign, hours, minutes = "0"] = /([+-])(\d{2}):?(\d{2})?$/.exec(zone ?? "") ?? [];
  const ahead = Number(hours ?? 0) * 60 + Number(minutes);
  return sign === "-" ? -ahead : ahead;
}

function afternoon(half: string): number {
  return half.toLowerCase() === "p" ? 12 : 0;
}

/** Two digits are a year from 1970 to 2069. */
function fullYear(text: string): number {
  const number = Number(text);
  if (text.length > 2) return number;
  return number + (number < 70 ? 2_000 : 1_900);
}
