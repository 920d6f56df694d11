import type { PetStatus } from "../../../domain/pet.ts";

/** What a word says of an animal: one of our statuses, none, or that it is gone. */
export type Meaning = PetStatus | "none" | "gone";

export const meanings: readonly Meaning[] = ["available", "pending", "sold", "none", "gone"];

/** What words are compared by: case, accents, blanks and what joins words make no difference. */
export function wordKey(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll("ł", "l")
    .replaceAll("ß", "ss")
    .replaceAll("ø", "o")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/**
 * The pairs in the text of an option: `left=right`, parted by commas. A side with a comma is quoted
 * as in CSV. Without an equals sign the left side is empty.
 */
export function pairsIn(text: string, equalsAt: (pair: string) => number) {
  const plain = (side: string) => side.trim().replace(/^"(.*)"$/, "$1");
  return (text.match(/(?:"[^"]*"|[^,])+/g) ?? []).map((pair) => {
    const at = equalsAt(pair);
    return { pair, left: plain(pair.slice(0, Math.max(at, 0))), right: plain(pair.slice(at + 1)) };
  });
}

/** How an animal left, in words that no other publisher uses; as `wordKey` leaves them. */
const departures: ReadonlySet<string> = new Set(
  `rtos,vet,escaped stolen,appt,shelter,closed,found exp,found report,lost exp,lost report,
other,treatment,community cat,homefirst,return to rescue,transport,return to wild habitat,
duplicate,trap neuter release,trap neuter return`.split(/,\n?/),
);

/** True for a word of `departures`, which stands for a report with a row per stay. */
export function isDepartureWord(value: unknown): boolean {
  return departures.has(wordKey(String(value)));
}

/** In English, Spanish, German, French, Dutch, Portuguese and Italian, as `wordKey` leaves them. */
export const words: Readonly<Record<Meaning, string>> = {
  available: `
available, available now, available for adoption, available behavior must read, available behind the scenes,
available offsite adoption, awaiting adoption, urgent adoption, available offsite, available itff, available pending photo, adoptable, for adoption, up for adoption, ready for adoption,
adoption ready, ready, needs home, needs a home, looking for a home, available in foster, on display
disponible, en adopcion, disponible para adoptar, para adopcion, disponible para adopcion, adopcion disponible, listo para adopcion,
busca hogar, busca casa, busca familia, en busca de hogar
verfugbar, vermittelbar, zu vermitteln, zur vermittlung, zuhause gesucht, sucht zuhause, sucht ein zuhause, frei,
noch frei
a l adoption, disponible a l adoption, a adopter, adoptable, adoptable immediatement, en attente d adoption,
cherche famille, cherche une famille
beschikbaar, beschikbaar voor adoptie, adopteerbaar, ter adoptie, zoekt baas, zoekt thuis, zoekt een thuis, vrij
disponivel, disponivel para adocao, para adocao, em adocao, adotavel, procura lar, procura um lar
disponibile, in adozione, adottabile, cerca casa, cerca famiglia`,
  pending: `
pending, adoption pending, pending adoption, adoption in progress, pending adoption pickup, reserved, reservation,
application pending, on hold, on hold for adopter, hold adopted, trial adoption, adoption trial, trial,
foster to adopt, meet and greet, m g
reservado, reservada, pendiente, adopcion pendiente, en proceso, proceso de adopcion, en proceso de adopcion,
en tramite, en espera, pre adoptado, pre adoptada, preadoptado, preadoptada
reserviert, vorgemerkt, in vermittlung
reserve, reservee, en cours d adoption, en cours, adoption en cours, adoption en attente
gereserveerd, in optie, onder optie
pendente, adocao pendente, em processo, em processo de adocao
riservato, riservata, prenotato, prenotata, adozione in corso`,
  sold: `
sold, adopted, adopted offsite, healthy in home, adoption, adoption finalized, adopt, rehomed, homed,
placed, found home, happy tail
adoptado, adoptada, adoptados, adopcion, vendido, vendida
vermittelt, adoptiert, verkauft, hat ein zuhause, zuhause gefunden, hat ein zuhause gefunden
adopte, adoptee, vendu, vendue, place, placee
geadopteerd, verkocht, geplaatst, herplaatst
adotado, adotada, adotados, adocao, adottato, adottata`,
  gone: `
deceased, died, dead, died in care, dead on arrival, doa, passed away, euthanized, euthanised, euthanasia, euthanize,
humanely euthanized, put to sleep, pts, euth, euth req, euthanasia request,
requested euthanasia, unassisted death, died at vet, died at facility, dispo, dispo req, disposal request, disposal, disposed, cremated
transfer, transferred, transfer to rescue, transferred to rescue, transfer to rescue group, rescue group, transfer out, transferred out, rescue, rescued, sent to rescue, released, relocated, relocate
returned to owner, return to owner, return to owner guardian, returned to guardian, rto, rto adopt, reclaimed, reclaim,
redeemed, redemption, owner reclaim, owner reclaimed, returned
not for adoption, not available, not available for adoption, not adoptable, not yet available, unavailable,
not ready, withdrawn, removed, archived, inactive, awaiting triage, awaiting intake exam, awaiting medical exam,
awaiting spay neuter, awaiting behavior evaluation, awaiting transfer, awaiting photo, in foster, foster,
medical observation, unassigned, pending foster pickup
hold, stray, stray hold, rabies hold, owner hold, hold for owner, police hold, 10 day hold, pending intake, pending vetting, pending surgery, medical hold, behavior hold, behavioral hold, legal hold, court hold, bite hold,
quarantine, bite quarantine, rabies quarantine, cruelty case, evaluate, evaluation, in treatment
lost, lost in care, found, missing, stolen, escaped, wildlife, permanent foster, permanent resident, hospice, sanctuary, boarding
shelter neuter return, snr, tnr, rtf, return to field, return to wild, released to wild
muerto, muerta, murio, fallecio, fallecido, fallecida, eutanasia, eutanasiado, eutanasiada, transferido, transferida, trasladado, trasladada,
devuelto, devuelta, devuelto a su dueno, devuelto al dueno, reclamado, reclamada, no disponible, cuarentena, en recuperacion, en proceso de recuperacion, en espera de cirugia,
en acogida, casa de acogida, retirado, retirada, perdido, perdida, perdidos, perdidas, encontrado, encontrada, encontrados, encontradas
verstorben, gestorben, tot, eingeschlafert, zuruck an besitzer, an besitzer zuruck, abgegeben, abgeholt, nicht verfugbar,
nicht vermittelbar, quarantane, pflegestelle, auf pflegestelle, in pflegestelle, regenbogenbrucke, verlegt
decede, decedee, mort, morte, euthanasie, euthanasiee, transfere, transferee, rendu au proprietaire,
rendue au proprietaire, rendu a son proprietaire, rendue a son proprietaire, non disponible, pas disponible,
indisponible, quarantaine, en famille d accueil
overleden, dood, ingeslapen, geeuthanaseerd, overgeplaatst, terug naar eigenaar, niet beschikbaar, quarantaine
falecido, falecida, faleceu, morto, morta, morreu, devolvido, devolvida, devolvido ao dono, indisponivel, nao disponivel, quarentena
deceduto, deceduta, restituito, restituita, trasferito, trasferita, non disponibile, non adottabile, in stallo, quarantena`,
  none: "none",
};

/** Words that say where an available animal is or came from, and not that it is gone. */
export const besides: ReadonlySet<string> = new Set(
  `foster,in foster,en acogida,casa de acogida,pflegestelle,auf pflegestelle,in pflegestelle,en famille d accueil,in stallo,
stray,found,encontrado,encontrada,rescue,rescued,transfer,returned,devuelto,devuelta,devolvido,devolvida,abgegeben,
unassigned,adoption,adopt,adopcion,adocao`.split(/,\n?/),
);

/** Phrases beside a stem of `available` that take nothing of it back. */
export const harmlessPhrases: readonly string[] =
  `for adoption,up for adoption,to adopt,in foster care,in foster home,in a foster home,in foster,bonded pair,
en adopcion,para adopcion,en casa de acogida,en acogida,pareja unida,
zur vermittlung,zur adoption,auf pflegestelle,in pflegestelle,im tierheim,
a l adoption,a adoption,en famille d accueil,en pension,voor adoptie,ter adoptie,in gastgezin,in het asiel,
para adocao,em adocao,em lar temporario,no abrigo,en el refugio,au refuge`.split(/,\n?/);

/** Single words of the same kind. Numbers are harmless too: they count kennels and days. */
export const harmlessWords: ReadonlySet<string> = new Set(
  `now,today,immediately,at,in,the,and,kennel,kennels,cage,room,run,shelter,offsite,onsite,pair,bonded,together,
ahora,ya,hoy,inmediatamente,jaula,canil,perrera,refugio,pareja,
jetzt,sofort,ab,zwinger,zimmer,paar,maintenant,immediatement,box,couple,nu,direct,hok,koppel,agora,ja,casal`.split(
    /,\n?/,
  ),
);
