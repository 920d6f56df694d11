/** Texts as people see them, and type them. */
import { planNames, type PlanName } from "../domain/plan.ts";

/** The names of the plans as people read them, in every language. */
export const planTitles = Object.fromEntries(
  planNames.map((name) => [name, name.charAt(0).toUpperCase() + name.slice(1)]),
) as Readonly<Record<PlanName, string>>;

/** What draws nothing by itself: blanks, marks without a letter, and what Unicode ignores. */
const unseen = /[\p{White_Space}\p{M}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** True for a text with a character that can be seen. */
export function isVisible(text: string): boolean {
  return text.replace(unseen, "") !== "";
}

/** True for the name of an animal that has one: older versions stored this word in its place. */
export const isNamed = (name: string): boolean => isVisible(name) && name !== "Unnamed";

/** What people type for the letters that Unicode does not decompose. */
const typed = new Map(
  "æ:ae œ:oe ø:o ß:ss þ:th ð:d đ:d ħ:h ı:i ł:l ŋ:n ŧ:t ς:σ"
    .split(" ")
    .map((pair) => pair.split(":") as [string, string]),
);
const typedLetters = new RegExp(`[${[...typed.keys()].join("")}]`, "g");

/**
 * A text as a search compares it: without regard to case, to accents and to how a letter is
 * composed. `Ñandú` is found by `nandu`, `ﬁ` by `fi`, and `Ørsted` by `orsted`.
 */
export function fold(text: string): string {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.replace(typedLetters, (letter) => typed.get(letter) ?? letter);
}
