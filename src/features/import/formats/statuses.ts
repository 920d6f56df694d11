import { UsageError } from "../../../cli/errors.ts";
import type { PetStatus } from "../../../domain/pet.ts";
import { isBlank, wordOf } from "./values.ts";

/** What a word says of an animal: one of our statuses, none, or that it is gone. */
export type Meaning = PetStatus | "none" | "gone";

export const meanings: readonly Meaning[] = ["available", "pending", "sold", "none", "gone"];

/** English, Spanish, German, French, Dutch and Portuguese words, as `wordKey` leaves them. */
const words: Readonly<Record<Meaning, string>> = {
  available: `
available, available now, available for adoption, adoptable, for adoption, up for adoption, ready for adoption,
adoption ready, ready, needs home, needs a home, looking for a home, available in foster, on display
disponible, en adopcion, para adopcion, disponible para adopcion, adopcion disponible, listo para adopcion,
busca hogar, busca casa, busca familia, en busca de hogar
verfugbar, vermittelbar, zu vermitteln, zur vermittlung, zuhause gesucht, sucht zuhause, sucht ein zuhause, frei,
noch frei
a l adoption, disponible a l adoption, a adopter, adoptable, adoptable immediatement, en attente d adoption,
cherche famille, cherche une famille
beschikbaar, beschikbaar voor adoptie, adopteerbaar, ter adoptie, zoekt baas, zoekt thuis, zoekt een thuis, vrij
disponivel, disponivel para adocao, para adocao, em adocao, adotavel, procura lar, procura um lar`,
  pending: `
pending, adoption pending, pending adoption, adoption in progress, pending adoption pickup, reserved, reservation,
application pending, on hold, on hold for adopter, hold adopted, trial adoption, adoption trial, trial,
foster to adopt, meet and greet
reservado, reservada, pendiente, adopcion pendiente, en proceso, proceso de adopcion, en proceso de adopcion,
en tramite, pre adoptado, pre adoptada, preadoptado, preadoptada
reserviert, vorgemerkt, in vermittlung
reserve, reservee, en cours d adoption
gereserveerd, in optie, onder optie
pendente, adocao pendente, em processo, em processo de adocao`,
  sold: `
sold, adopted, adopted offsite, healthy in home, adoption, adoption finalized, adopt, rehomed, homed,
placed, found home, happy tail
adoptado, adoptada, adopcion, vendido, vendida
vermittelt, adoptiert, verkauft, hat ein zuhause, zuhause gefunden, hat ein zuhause gefunden
adopte, adoptee, vendu, vendue, place, placee
geadopteerd, verkocht, geplaatst, herplaatst
adotado, adotada, adocao`,
  gone: `
deceased, died, dead, died in care, dead on arrival, doa, passed away, euthanized, euthanised, euthanasia, euthanize,
humanely euthanized, put to sleep, disposal, disposed, cremated
transfer, transferred, transfer out, transferred out, rescue, rescued, sent to rescue, released, relocated, relocate
returned to owner, return to owner, return to owner guardian, returned to guardian, rto, rto adopt, reclaimed, reclaim,
redeemed, redemption, owner reclaim, owner reclaimed, returned
not for adoption, not available, not available for adoption, not adoptable, not yet available, unavailable,
not ready, withdrawn, removed, archived, inactive, awaiting triage, awaiting intake exam, awaiting medical exam,
awaiting spay neuter, awaiting behavior evaluation, awaiting transfer, awaiting photo, in foster, foster,
medical observation, unassigned
hold, stray, stray hold, medical hold, behavior hold, behavioral hold, legal hold, court hold, bite hold,
quarantine, bite quarantine, rabies quarantine, cruelty case, evaluate, evaluation, in treatment
lost, lost in care, found, missing, stolen, escaped, wildlife, permanent foster, sanctuary, boarding
shelter neuter return, snr, tnr, rtf, return to field, return to wild, released to wild
muerto, muerta, murio, fallecido, fallecida, eutanasia, eutanasiado, eutanasiada, transferido, transferida, trasladado, trasladada,
devuelto, devuelta, devuelto a su dueno, devuelto al dueno, reclamado, reclamada, no disponible, cuarentena,
en acogida, casa de acogida, retirado, retirada, perdido, perdida, encontrado, encontrada
verstorben, gestorben, tot, eingeschlafert, zuruck an besitzer, an besitzer zuruck, abgegeben, abgeholt, nicht verfugbar,
nicht vermittelbar, quarantane, pflegestelle, auf pflegestelle, in pflegestelle, regenbogenbrucke, verlegt
decede, decedee, mort, morte, euthanasie, euthanasiee, transfere, transferee, rendu au proprietaire,
rendue au proprietaire, rendu a son proprietaire, rendue a son proprietaire, non disponible, pas disponible,
indisponible, quarantaine, en famille d accueil
overleden, dood, ingeslapen, geeuthanaseerd, overgeplaatst, terug naar eigenaar, niet beschikbaar, quarantaine
falecido, falecida, faleceu, morto, morta, morreu, devolvido, devolvida, devolvido ao dono, indisponivel, nao disponivel, quarentena`,
  none: "none",
};

const known: ReadonlyMap<string, Meaning> = new Map(
  (Object.entries(words) as [Meaning, string][]).flatMap(([meaning, list]) =>
    list.split(/[,\n]/).flatMap((word) => {
      const key = word.trim();
      return key === "" ? [] : [[key, meaning] as const];
    }),
  ),
);

/** Words that say where an available animal is or came from, and not that it is gone. */
const besides: ReadonlySet<string> = new Set(
  `foster,in foster,en acogida,casa de acogida,pflegestelle,auf pflegestelle,in pflegestelle,en famille d accueil,
stray,found,encontrado,encontrada,rescue,rescued,transfer,returned,devuelto,devuelta,devolvido,devolvida,abgegeben,
unassigned,adoption,adopt,adopcion,adocao`.split(/,\n?/),
);

/** What words are compared by: case, accents, blanks and what joins words make no difference. */
export function wordKey(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** What parts a status from its rest: `Available - In Foster`, `Hold: Stray`, `Sold (8 May)`. */
const restOfStatus = /\s+[-\u2013\u2014]\s*|\s*[:(].*/u;

/** The other gender behind a word: `Adoptado/a`, `Adopté·e`. */
const otherGender = /[/·.-][ae]$/iu;

/** Words that are kept; a file with more has other things in that column. */
const readMax = 1_000;

/** Reads what shelters write for a status, with the words that this import's options add. */
export class Statuses {
  readonly #own: ReadonlyMap<string, Meaning>;
  /** What was read before: a file has few words, and a million times. */
  readonly #read = new Map<string, Meaning | undefined>();
  /** What an animal has whose status is blank or not in the file; undefined to ask for it. */
  readonly whenMissing: Exclude<Meaning, "gone"> | undefined;

  constructor(
    own: ReadonlyMap<string, Meaning> = new Map(),
    whenMissing?: Exclude<Meaning, "gone">,
  ) {
    this.#own = own;
    this.whenMissing = whenMissing;
  }

  /** The status that the options of this import give to a value, if any. */
  #told(value: unknown): Meaning | undefined {
    return this.#own.size === 0 || isBlank(value)
      ? undefined
      : this.#own.get(wordKey(wordOf(value)));
  }

  /** The meaning of a value that is not blank, or undefined if it is unknown. */
  meaningOf(value: unknown): Meaning | undefined {
    if (typeof value !== "string") return this.#told(value);
    if (this.#read.has(value)) return this.#read.get(value);
    const meaning = this.#told(value) ?? meaningOfText(value);
    if (this.#read.size < readMax) this.#read.set(value, meaning);
    return meaning;
  }
}

function meaningOfText(text: string): Meaning | undefined {
  const whole = known.get(wordKey(text));
  if (whole !== undefined) return whole;
  const [first = ""] = text.split(restOfStatus, 1);
  const meaning = known.get(wordKey(first)) ?? known.get(wordKey(first.replace(otherGender, "")));
  return meaning === "available"
    ? (takenBack(wordKey(text.slice(first.length))) ?? meaning)
    : meaning;
}

/** What is left of `available` by the rest of a status, such as `Available (adoption pending)`. */
function takenBack(rest: string): Meaning | undefined {
  if (/^(?:no|non|nein|nee|nao|false|0)$/.test(rest)) return "gone";
  const meaning = besides.has(rest) ? undefined : known.get(rest);
  return meaning === "none" ? undefined : meaning;
}

const example = "for example --status 'Disponible=available,EUTHANIZE=gone'";

/** Reads the values of `--status`: `word=meaning` pairs parted by commas. Throws UsageError. */
export function parseStatusWords(texts: readonly string[]): ReadonlyMap<string, Meaning> {
  const own = new Map<string, Meaning>();
  for (const pair of texts.flatMap((text) => text.match(/(?:"[^"]*"|[^,])+/g) ?? [])) {
    const equals = pair.lastIndexOf("=");
    const word = pair
      .slice(0, Math.max(equals, 0))
      .trim()
      .replace(/^"(.*)"$/, "$1");
    const meaning = pair
      .slice(equals + 1)
      .trim()
      .toLowerCase();
    if (wordKey(word) === "" || !isMeaning(meaning)) {
      throw new UsageError(
        `--status: expected WORD=${meanings.join("|")}, found ${JSON.stringify(pair.trim())}; ${example}`,
        "rehome pets import --help",
      );
    }
    own.set(wordKey(word), meaning);
  }
  return own;
}

function isMeaning(text: string): text is Meaning {
  return (meanings as readonly string[]).includes(text);
}
