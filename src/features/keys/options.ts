import { Argument, Option } from "commander";
import { durationOf, parseText, wholeNumber } from "../options.ts";
import { durationRule } from "../duration.ts";
import { limitMax, planNames } from "../../domain/plan.ts";

export const keyArgument = () => new Argument("<key>", "id, the beginning of one, or label");

export const planOption = (description = "plan of the key") =>
  new Option("--plan <plan>", description).choices([...planNames]);

export const labelOption = (description: string) =>
  new Option("--name <label>", description).argParser(parseText);

export function limitOption(window: "minute" | "day"): Option {
  const description = `requests per ${window} (plan enterprise only)`;
  return new Option(`--per-${window} <N>`, description).argParser(wholeNumber(limitMax));
}

/** When a key expires: a duration in milliseconds, or `never`. */
export const expiryOption = (description: string) =>
  new Option("--expires-in <duration>", description).argParser((value: string) =>
    value === "never" ? value : durationOf(value, 1, `${durationRule}, or never`),
  );

/** `--read-only`, in the words of `description`; it and `--read-write` exclude each other. */
export const readOnlyOption = (description: string) =>
  new Option("--read-only", description).conflicts("readWrite");

export const readWriteOption = (description: string) =>
  new Option("--read-write", description).conflicts("readOnly");
