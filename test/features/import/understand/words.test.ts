/** What a status means: the list of words, the stems, the rest behind a word, and dated words. */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  parseStatusWords,
  saysDead,
  Statuses,
} from "../../../../src/features/import/understand/words.ts";
import type { Meaning } from "../../../../src/features/import/understand/words.ts";

const read = (word: string) => new Statuses().understood(word);
const meaningOf = (word: string) => read(word)?.meaning;

/** Words parted by bars, by what they mean. */
function casesOf(lists: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(lists).flatMap(([meaning, list]) =>
    list.split("|").map((word) => [word.trim(), meaning] as const),
  );
}

describe("words that shelters write", () => {
  const cases = casesOf({
    available:
      "Disponible à l'adoption|Disponível para adoção|Adoptable immédiatement|Dostupný|Tilgængelig",
    pending: "Pre-adoptado|Reservado/a|Réservé·e|Réservé.e|Reservado-a|rezervováno|Zarezerwowany",
    sold: "ADOPTADO/A|Adotado/a|Adopté(e)|Adopté·e|adoptováno",
    gone: `Murió|Fallecido/a|Regenbogenbrücke|Rendu à son propriétaire|Medical Hold|Stray hold
      |Disponible (falleció)|temporarily_unavailable|Inadotável|返還済み`,
    none: "none|NONE",
  });
  test.each(cases)("%s is %s, by the list", (word, meaning) => {
    expect(read(word)).toEqual({ meaning: meaning as Meaning, by: "list" });
  });

  const unclear =
    `Option|Übertragen|Checked|Adoptive parent wanted|Zone 7|Not adopted|No adoptado|not_adopted
    |Adoption application received|Adoption floor|Adoption fee waived|wird nur zu zweit vermittelt
    |kann vermittelt werden|Medically cleared|medium`.split("|");
  test.each(unclear.map((word) => word.trim()))("%s is asked for", (word) => {
    expect(read(word)).toBeUndefined();
  });
});

describe("the rest of a status", () => {
  const cases = casesOf({
    available: `Available - In Foster|Available - Behavior/Must Read|Available - Stray|Available (returned)
      |Available: Adoption|Available - None|Available (kennel 12)|Disponible - jaula 3`,
    pending: "Available (adoption pending)|Available For Adoption - Pending",
    sold: "Available - Adopted|Adopted (released)",
    gone: `Available: No|Disponível: não|Available: false|Available (0)|Available — Deceased|Available - Deceased
      |Zu vermitteln - verstorben|Available - Returned to Owner|Available - Quarantine|Ready - Not Available
      |Disponible: non|Available - deceased 3/14|Pending - died|On hold - medical
      |Adopted - died 3/14`,
  });
  test.each(cases)("%s is %s", (word, meaning) => {
    expect(meaningOf(word)).toBe(meaning as Meaning);
  });

  const open =
    `Available - soon|Available (not yet)|Available - ask Maria|Disponible - ya no|Available (medium)|Disponible - mediano
    |Available (former stray)|Available - medical|Available - lost an eye|Available - returned by adopter`.split(
      "|",
    );
  test.each(open.map((word) => word.trim()))("%s is asked for", (word) => {
    expect(read(word)).toBeUndefined();
  });
});

describe("what the table does not have", () => {
  const dead =
    `Euth. by vet|Death in care|Dispos.|found dead|Zgon w schronisku|Falecido ontem`.split("|");
  test.each(dead)("%s is a death by its stem, and is shown as such", (word) => {
    expect(read(word)).toEqual({ meaning: "gone", by: "stem" });
  });

  const asked =
    `no longer available|ya no disponible|não está disponível|not currently available|Available - ya no
    |ineligible for adoption|available soon|available until Friday|available for foster|nicht mehr verfügbar|Not adopted
    |plus disponible|non più disponibile|available except Sundays|never available|Spay appointment|Lost at sea|Adoption
    |pre-adoption|noch nicht vermittelt|adoption cancelled|failed adoption|Adopted by the Smiths|nie adoptowany`.split(
      "|",
    );
  test.each(asked.map((word) => word.trim()))("%s is asked for", (word) => {
    expect(read(word)).toBeUndefined();
  });

  const known = fc.constantFrom("available", "adoptable", "disponible", "for adoption", "k adopci");
  const between = fc.constantFrom(" ", " - ", ": ", " (", " / ");

  test("beside any word that is not harmless is never available", () => {
    const other = fc.constantFrom(
      ..."sick,bites,tomorrow,maybe,if,almost,was,formerly,review,Smith,no longer,not,nicht,no,ya no,non,pas,niet,never,soon,nie,ne".split(
        ",",
      ),
    );
    fc.assert(
      fc.property(known, between, other, fc.boolean(), (word, joint, rest, isBehind) => {
        const text = isBehind ? `${word}${joint}${rest}` : `${rest}${joint}${word}`;
        expect(["available", "pending"]).not.toContain(meaningOf(text) ?? "asked");
      }),
    );
  });

  test("of a death goes before all others", () => {
    const death = fc.constantFrom("deceased", "died", "euthanized", "dead", "disposed");
    const other = fc.constantFrom("available", "adoption pending", "reserved", "adopted");
    fc.assert(
      fc.property(death, other, between, fc.boolean(), (word, rest, joint, isBehind) => {
        const text = isBehind ? `${word}${joint}${rest}` : `${rest}${joint}${word}`;
        expect(meaningOf(text)).toBe("gone");
      }),
    );
  });

  test("is told from the table", () => {
    const statuses = new Statuses();
    statuses.understood("Died at home");
    statuses.understood("Reserved");
    expect([...statuses.stems()]).toEqual([["Died at home", "gone"]]);
  });
});

test.each([
  [
    "sold",
    "Adopted 3/14|Adoptada 14/3|Sold (8 May)|Adopted on March 3, 2024|Vermittelt am 3.4.2026",
  ],
  ["sold", "Adoptado el 3 de marzo de 2024"],
  ["available", "Available 3/14"],
  ["pending", "Reserved since 2026-03-14"],
  // No other word is taken for a month.
  [undefined, "Available Zone 3"],
] as const)("%s, as without the date: %s", (meaning, words) => {
  for (const word of words.split("|")) expect([word, meaningOf(word)]).toEqual([word, meaning]);
});

describe("words of this import", () => {
  test("--status goes before what is known, in any language and case", () => {
    const statuses = new Statuses(
      parseStatusWords(["Unassigned=available,STRAY=none", "OPEN=sold"]),
    );
    const meanings = ["unassigned", "Stray", "open", "open 3/14"].map((each) =>
      statuses.meaningOf(each),
    );
    expect(meanings).toEqual(["available", "none", "sold", "sold"]);
  });

  test("--status gives a meaning to numbers and truths of JSON too, but not to nothing", () => {
    const statuses = new Statuses(parseStatusWords(["true=Available, 2 = gone", "null=gone"]));
    const meanings = [true, 2, null, undefined, false].map((value) => statuses.meaningOf(value));
    expect(meanings).toEqual(["available", "gone", undefined, undefined, undefined]);
  });

  test.each(["sold", "sold=", "=sold", "x=free"])("--status %s is explained", (text) => {
    const problem = `--status: expected WORD=available|pending|sold|none|gone, found "${text}"; for example`;
    expect(() => parseStatusWords([text])).toThrow(problem);
  });

  test("a ? is left for somebody to fill in", () => {
    expect(() => parseStatusWords(["Zone 1=gone,OPEN=?"])).toThrow(
      '--status: say what "OPEN" means',
    );
  });
});

test.each([
  [true, "DEAD|Died in care|Humanely euthanized|DISPO REQ|Muerto|Verstorben"],
  [false, "Owner died|OWNER DECEASED|her mother died|Alive on Intake|not dead|Healthy"],
  [false, "found beside the road near the house where its owner had died in May"],
])("a column of states says that the animal died, %p: %s", (isDead, values) => {
  expect(values.split("|").map(saysDead)).toEqual(values.split("|").map(() => isDead));
});
