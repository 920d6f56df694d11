/** What words say of an animal: the one table of them, and how a status is read by it. */
import type { PetStatus } from "../../../domain/pet.ts";
import { UsageError } from "../../usage-error.ts";
import { fold } from "../../visible.ts";
import { isBlank, wordOf } from "../messages.ts";
import { monthOf } from "./dates.ts";

export type Meaning = PetStatus | "none" | "gone";

export const meanings: readonly Meaning[] = ["available", "pending", "sold", "none", "gone"];

/** The meaning that somebody names, in any case: `adopted` is `sold`. */
export function meaningNamed(text: string): Meaning | undefined {
  const said = text
    .trim()
    .toLowerCase()
    .replace(/^adopted$/, "sold");
  return meanings.find((each) => each === said);
}

/** What words are compared by: case, accents, blanks and what joins words make no difference. */
export function wordKey(text: string): string {
  return fold(text)
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

export const listed = (text: string): readonly string[] =>
  text.split(/[,\n]/).flatMap((each) => wordKey(each) || []);

export const keyed = (
  all: Readonly<Partial<Record<Meaning, string>>>,
): ReadonlyMap<string, Meaning> =>
  new Map(
    (Object.entries(all) as [Meaning, string][]).flatMap(([meaning, list]) =>
      listed(list).map((word) => [word, meaning] as const),
    ),
  );

/** What says so in the languages of ASM, of a column and of a status. */
export const notForAdoption = `nicht zur Vergabe, steht nicht zur Adoption frei, no adoptables, no disponible para adopción, pas disponible à l'adoption,
non disponible à l'adoption, pas pour l'adoption, niet voor adoptie, niet voor adoptie beschikbaar, niet beschikbaar voor adoptie, não disponível para adoção, não está disponível para adoção,
não adotáveis, non per adozione, non adottabile, non disponibile per l'adozione, nie do adopcji, nie jest przeznaczony do adopcji, není k adopci, není k dispozici pro adopci, nie je na adopciu,
недоступно для передачи, не става за осиновяване, nije za udomljavanje, nije dostupna za udomljavanje, ni za posvojitev, ni na voljo za posvojitev, nem örökbefogadható, sahiplendirme için değil,
sahiplendirme için uygun değil, ej för adoption, inte tillgänglig för adoption, ikke for adopsjon, ikke til omplassering, ikke tilgjengelig for adopsjon, όχι για υιοθεσία, μη διαθέσιμο για υιοθεσία, 不開放認養`;

/** Of a death: words for a status, and headings. */
export const deaths = `dead, death, died, deceased, decease, passed away, pass away, passing, dod, rip, doa, dead on arrival, died in care, put to sleep, pts,
euthanized, euthanised, euthanasia, euthanize, euth, mortality
muerte, muerto, muerta, murio, fallecido, fallecida, fallecimiento, fallecio, defuncion, deceso, eutanasia, eutanasiado, eutanasiada, sacrificado, sacrificada
obito, morte, morto, morta, morreu, falecido, falecida, falecimento, faleceu
tod, todes, todestag, gestorben, verstorben, sterbe, sterbedatum, todesdatum, eingeschlafert, euthanasiert, tot
deces, decede, decedee, mort, euthanasie, euthanasiee
overleden, overlijden, overlijdens, overlijdensdatum, sterfdatum, dood, gestorven, ingeslapen, geeuthanaseerd
decesso, deceduto, deceduta
zgon, zgonu, smierc, smierci, padl, padla, zdechl, zmarl, zmarla, zmarly, zmarle, uspiony, uspiona, eutanazja, eutanazji, nie zyje
umrti, umrtia, umrtie, uhyn, uhynu, uhynul, uhynula, uhynulo, uhynuti, uhynutia, zemrel, zemrela, zomrel, zomrela,
smrt, smrti, eutanazie, eutanazia
смерть, смерти, смерті, умер, умерла, погиб, погибла, помер, померла, смърт, починал, починала, uginuo, uginula, uginuca, preminuo, preminula,
ölüm, öldü, vefat, elpusztult, elpusztulas, elhullas, elhunyt, halal, decedat, decedata, deces, decesului, moarte, mortii, död, döds, dødt, avliden, avlivad, avlivet,
aflivet, afdød, døde, avled, kuollut, kuolema, kuolin, θανατος, θανατου, πεθανε, απεβιωσε, ευθανασια, mrtve, uhynute, falecidos, умершие, умерло, усыплено, почиване, починало, евтаназиран,
eutaniziran, evtanizirana, poginila, poginula, halott, elaltatva, usmrceno, ölmüş, 已死亡, 安樂死, 已施行安樂死, 死亡, 离世, 離世, 去世, 사망, 폐사, 안락사`;

/**
 * The one table of words for a status, as `wordKey` leaves them: English, Spanish, German, French,
 * Dutch, Portuguese, Italian, Polish, Czech and Slovak, and words of others that lists were seen
 * to have. What it does not have is asked for.
 */
export const words = keyed({
  available: `
available, available now, avail, available for adoption, available behavior must read, available behind the scenes, available today, still available,
available offsite adoption, awaiting adoption, urgent adoption, available offsite, available itff, available pending photo, adoptable, adoptable now, for adoption, up for adoption, ready for adoption,
adoption ready, ready, ready to adopt, needs home, needs a home, looking for a home, looking for home, seeking home, seeking a home, available in foster, available foster, available in foster care, on display,
open for adoption, open to adoption, available for adoption now
disponible, disponibles, disponible ahora, en adopcion, en adopcion urgente, disponible para adoptar, para adopcion, disponible para adopcion, adopcion disponible, listo para adopcion, lista para adopcion,
adoptable urgente, adoptables, busca hogar, busca casa, busca familia, en busca de hogar, en busca de familia, buscando hogar, apto para adopcion
verfugbar, vermittelbar, zu vermitteln, zur vermittlung, zur adoption, zuhause gesucht, sucht zuhause, sucht ein zuhause, sucht neues zuhause, suchen ein zuhause, frei,
noch frei, vermittlungsbereit
a l adoption, disponible a l adoption, a adopter, adoptable, adoptable immediatement, en attente d adoption, adoption possible,
cherche famille, cherche une famille, cherche un foyer
beschikbaar, beschikbaar voor adoptie, adopteerbaar, ter adoptie, zoekt baas, zoekt thuis, zoekt een thuis, op zoek naar een thuis, vrij
disponivel, disponiveis, disponivel para adocao, para adocao, em adocao, adotavel, procura lar, procura um lar, aguardando adocao, apto para adocao
disponibile, disponibili, in adozione, adottabile, adottabili, cerca casa, cerca famiglia, in cerca di casa, in cerca di famiglia
do adopcji, dostepny, dostepna, dostepne, gotowy do adopcji, gotowa do adopcji, szuka domu, szukam domu, czeka na dom, czeka na adopcje
k adopci, dostupny, dostupna, dostupne, dostupni, volny, volna, volne, hleda domov, hleda novy domov, k umisteni
na adopciu, k dispozicii, hlada domov, hlada novy domov
disponibil
ищет дом, ищет хозяина, ищет семью, ищет новый дом, доступен для усыновления, доступна для усыновления, шукає дім, шукає родину, за осиновяване, търси дом, за удомљавање, тражи дом,
za udomljavanje, traži dom, sahiplendirilebilir, sahiplendirilecek, yuva arıyor, sahiplenmeye hazır, örökbefogadható, örökbe fogadható, gazdit keres, gazdára vár, gazdikereső,
disponibilă, spre adopție, spre adoptie, de adoptat, caută familie, adoptabil, till adoption, söker hem, tillgänglig, tilgjengelig, tilgængelig, søker hjem, søger hjem, etsii kotia, kotia etsimässä, saatavilla,
διαθέσιμο, διαθέσιμος, διαθέσιμη, προς υιοθεσία, ψάχνει σπίτι, 待领养, 可领养, 等待领养, 未领养, 未被领养, 待認養, 可認養, 開放認養, 待領養, 可領養, 開放領養, 未領養, 未認養, 입양가능, 입양 가능, 입양대기, 募集中, 里親募集中`,
  pending: `
pending, adoption pending, pending adoption, adoption in progress, adoption in process, in process, pending adoption pickup, reserved, reservation,
application pending, pending application, on hold, on hold for adopter, hold adopted, adopt hold, adoption hold, trial adoption, adoption trial, trial, on trial, under offer,
foster to adopt, foster to adopt in progress, meet and greet, m g
reservado, reservada, reservados, reservadas, reserva, pendiente, pendiente de adopcion, adopcion pendiente, en proceso, proceso de adopcion, en proceso de adopcion,
en tramite, en tramite de adopcion, en espera, en lista de espera, pre adoptado, pre adoptada, preadoptado, preadoptada, apartado, apartada
reserviert, vorgemerkt, in vermittlung
reserve, reservee, reserves, reservees, en cours d adoption, en cours, adoption en cours, adoption en attente
gereserveerd, in optie, onder optie
pendente, adocao pendente, reservado para adocao, em processo, em processo de adocao
riservato, riservata, prenotato, prenotata, in corso di adozione, adozione in corso
zarezerwowany, zarezerwowana, zarezerwowane, rezerwacja, w trakcie, w trakcie adopcji, adopcja w toku
rezervovany, rezervovana, rezervovane, rezervovano, rezervace, zamluveny, zamluvena, zamluveno, v jednani, rezervacia
забронирован, забронирована, зарезервирован, зарезервирована, зарезервировано, резервирано, rezervisano, rezerve edilmiş, 已預約保留, бронь, в резерве, заброньований, заброньована, резервиран, резервирана, rezerviran, rezervirana, rezerve, rezerve edildi,
foglalt, lefoglalt, lefoglalva, előjegyezve, rezervat, rezervată, în curs de adopție, reserverad, reserverat, bokad, reserveret, reservert, varattu, κρατημένο, σε αναμονή,
已预定, 预定, 已預定, 預定, 已預約, 預約中, 領養中, 予約, 予約中, 予約済, bokat, tingad, 领养中, 领养审核中, 審核中, 审核中, 입양예정, 예약중, 예약, トライアル中, 商談中, 譲渡予定`,
  sold: `
sold, adopted, adopted offsite, adopted altered, adopted unaltered, healthy in home, adoption finalized, adoption finalised, adoption completed, adoption complete, rehomed, homed,
placed, found home, found a home, found forever home, in new home, happy tail, happy tails
adoptado, adoptada, adoptados, adoptadas, vendido, vendida, ya adoptado, ya adoptada
vermittelt, bereits vermittelt, adoptiert, verkauft, hat ein zuhause, zuhause gefunden, hat ein zuhause gefunden
adopte, adoptee, adoptes, adoptees, vendu, vendue, place, placee
geadopteerd, verkocht, geplaatst, herplaatst
adotado, adotada, adotados, adotadas, adottato, adottata, adottati, adottate
adoptowany, adoptowana, adoptowane, zaadoptowany, zaadoptowana, zaadoptowane, wyadoptowany, wyadoptowana, w nowym domu, znalazl dom, znalazla dom
adoptovany, adoptovana, adoptovane, adoptovano, umisteny, umistena, umisten, umisteno, osvojeny, osvojena, v novem domove, nasel domov, nasla domov, nasiel domov
пристроен, пристроена, пристроены, усыновлен, усыновлена, нашел дом, нашла дом, обрел дом, обрела дом, прилаштований, прилаштована, прилаштовано, усиновлений, знайшов дім, знайшла дім,
осиновен, осиновена, осиновено, udomljen, udomljena, udomljeno, sahiplendirildi, sahiplenildi, sahiplendi, yuvalandı, yuva buldu, örökbefogadva, örökbe fogadva, örökbefogadott, örökbe fogadott,
gazdára talált, gazdis, gazdára lelt, adoptált, удомљен, удомљена, удомљено, evlat edinildi, evlat edindirildi, adoptat, adoptată, adoptați, adopterad, adopterat, omplacerad, adopteret, adoptert, omplassert, adoptoitu, löysi kodin, υιοθετήθηκε, υιοθετημένο, υιοθετημένος,
已领养, 被领养, 已被领养, 已送养, 已認養, 已領養, 被領養, 已被領養, 已送養, 입양완료, 입양 완료, 입양됨, 종료 입양, 譲渡済, 譲渡済み, 里親決定`,
  gone: `${deaths}
${notForAdoption}, humanely euthanized, euth req, euthanasia request
requested euthanasia, unassisted death, died at vet, died at facility, dispo, dispo req, disposal request, disposal, disposed, cremated
transfer, transferred, transfered, transfer to rescue, transferred to rescue, transfer to rescue group, rescue group, transfer out, transferred out, rescue, rescued, rescue only, sent to rescue, released, relocated, relocate
returned to owner, return to owner, return to owner guardian, returned to guardian, with owner, rto, rto adopt, reclaimed, reclaim
redeemed, redemption, owner reclaim, owner reclaimed, returned
not for adoption, not available, not available for adoption, not adoptable, not yet available, unavailable, temporarily unavailable, hidden
not ready, withdrawn, removed, deleted, archived, inactive, awaiting triage, awaiting intake exam, awaiting medical exam
awaiting spay neuter, awaiting behavior evaluation, awaiting transfer, awaiting photo, in foster, foster, fostered, fostering
medical observation, unassigned, pending foster pickup
hold, stray, stray hold, stray wait, rabies hold, owner hold, hold for owner, police hold, 10 day hold, pending intake, pending vetting, pending surgery, medical hold, on hold medical, behavior hold, behavioral hold, legal hold, court hold, bite hold
quarantine, bite quarantine, rabies quarantine, quarantined, cruelty case, evaluate, evaluation, in treatment, under treatment, treatment
lost, lost in care, found, missing, stolen, escaped, wildlife, permanent foster, permanent resident, hospice, sanctuary, boarding
shelter neuter return, snr, tnr, rtf, return to field, returned to field, return to wild, released to wild
fallecidos, transferido, transferida, trasladado, trasladada
devuelto, devuelta, devuelto a su dueno, devuelto al dueno, reclamado, reclamada, no disponible, no adoptable, cuarentena, en cuarentena, en tratamiento, en recuperacion, en proceso de recuperacion, en espera de cirugia
en acogida, acogido, acogida, casa de acogida, retirado, retirada, baja, oculto, perdido, perdida, perdidos, perdidas, encontrado, encontrada, encontrados, encontradas
zuruck an besitzer, an besitzer zuruck, abgegeben, abgeholt, nicht verfugbar
nicht vermittelbar, quarantane, in quarantane, pflegestelle, auf pflegestelle, in pflegestelle, regenbogenbrucke, verlegt
transfere, transferee, rendu au proprietaire
rendue au proprietaire, rendu a son proprietaire, rendue a son proprietaire, non disponible, pas disponible, non adoptable
indisponible, quarantaine, en soins, en famille d accueil, perdu, perdue
overgeplaatst, terug naar eigenaar, niet beschikbaar, niet ter adoptie, ontsnapt, quarantaine, in quarantaine, in gastgezin
devolvido, devolvida, devolvido ao dono, indisponivel, nao disponivel, quarentena, em tratamento, tratamento, em observacao, observacao, inadotavel, inativo
deceduti, restituito, restituita, trasferito, trasferita, non disponibile, non adottabile, in stallo, quarantena
kwarantanna, w kwarantannie, nie do adopcji, niedostepny, niedostepna, w trakcie leczenia, w leczeniu, zaginiony
odebrany przez wlasciciela, oddany wlascicielowi, wydany wlascicielowi, przekazany, przekazana, dom tymczasowy
utracen, utracena, karantena, v karantene, nedostupny, nedostupna, vracen majiteli, vracena majiteli, v leceni, docasna pece, docaska, nezvestny
uhynuty, uhynuta, vrateny majitelovi, v liecbe, docasna starostlivost
на лечении, на карантине, карантин, пропал, пропала, загинув, загинула, на лікуванні, na liječenju
vefat etti, tedavide, karantinada, kayıp, kezelés alatt, karanténban, în tratament, în carantină, indisponibilă
under behandling, lopetettu, menehtynyt, μη διαθέσιμο, νεκρό, 已离世, 已去世, 已故, 失踪, 治疗中, 隔离中, 暂不领养, 不可领养, 不可領養, 暫不領養, 已下架, 已刪除, 已删除
종료 반환, 종료 자연사, 종료 안락사, 종료 방사, 종료 기증, 자연사, 返還, 返還済, 返還済み, 公開停止中, 募集終了`,
  none: "none",
});

/** All words of a meaning, as a list; `place` is `placé` as a status, and a place as a heading. */
export const wordsOf = (meaning: Meaning): string =>
  [...words]
    .flatMap(([word, means]) => (means === meaning && word !== "place" ? word : []))
    .join(", ");

/** How an animal left: known in the columns that tell it, and asked for elsewhere. */
export const outcomeWords = keyed({
  sold: `adoption, adopt, barn adoption, offsite adoption, adopcion, adocao, adozione, adoptie, vermittlung, adopcja, adopce, adopcia`,
  gone: `rtos, vet, escaped stolen, appt, shelter, closed, found exp, found anim, found report, lost exp, lost anim, lost report, spay, neuter,
other, treatment, community cat, homefirst, return to rescue, transport, return to wild habitat,
duplicate, trap neuter release, trap neuter return`,
});

/** Words that say where an available animal is or came from, and not that it is gone. */
export const besides: ReadonlySet<string> = new Set(
  listed(`foster, in foster, fostered, fostering, en acogida, acogido, acogida, casa de acogida, pflegestelle, auf pflegestelle, in pflegestelle, en famille d accueil,
in gastgezin, in stallo, dom tymczasowy, docasna pece, docaska, docasna starostlivost, stray, found, encontrado, encontrada, rescue, rescued, transfer,
returned, devuelto, devuelta, devolvido, devolvida, abgegeben, unassigned, adoption, adopt, adopcion, adocao`),
);

/** Found, lost, stray, foster: any other record of the animal tells more of it. */
export const passing: ReadonlySet<string> = new Set(
  listed(`found, lost, lost in care, missing, stray, stray hold, stray wait, foster, in foster, fostered, fostering, found exp, found anim, found report, lost exp, lost anim, lost report,
perdido, perdida, perdidos, perdidas, encontrado, encontrada, encontrados, encontradas, en acogida, acogido, acogida, casa de acogida,
pflegestelle, auf pflegestelle, in pflegestelle, perdu, perdue, en famille d accueil, in gastgezin, in stallo, zaginiony, nezvestny, dom tymczasowy,
docasna pece, docaska, docasna starostlivost`),
);

/** Whether something is shown, in a column that tells just that. */
export const shownWords: ReadonlySet<string> = new Set(
  listed(`active, activo, activa, ativo, ativa, aktiv, actif, actief, attivo, attiva, aktywny, aktywna, aktivni, aktivny, aktivan, aktif, activ,
активен, активна, активный, активний, ενεργό, 启用, 啟用, 上架, 已上架, 公开, 公開, published, publish, publicado, public, visible, listed, enabled,
open, on, online, live, yayında`),
);
export const hiddenWords: ReadonlySet<string> = new Set(
  listed(`inactive, inactivo, inactiva, inativo, inativa, inaktiv, inactif, inactief, inattivo, inattiva, nieaktywny, nieaktywna, neaktivni,
neaktivny, neaktivan, pasif, aktif degil, inactiv, неактивен, неактивна, неактивный, неактивний, ανενεργό, 禁用, 停用, 下架, 已下架, 非公開, unpublished,
draft, borrador, private, hidden, oculto, disabled, closed, archived, off, offline, taslak`),
);

/** Who is alive, or was not adopted: words that take nothing of an animal. */
const nothings: ReadonlySet<string> = new Set(
  listed(`alive, living, lives, vivo, viva, lebt, lebend, vivant, vivante, levend, żyje, żyjący, žije, živý, živá, nobody, nadie, niemand,
personne, ninguno, ninguna, nenhum, keiner, keine, kein, aucun, aucune, nessuno, geen, brak, žádný, žiadny, nikdo, nikt, not applicable,
no aplica, sahiplenilmedi, sahiplendirilmedi, evlat edinilmedi, on shelter, in shelter, at shelter, in care, still in care`),
);
/** What is not, or not yet: `Not adopted`, `Sin reservar`, `Nicht vermittelt`. */
const nots =
  listed(`not, not yet, non, no, never, un, nicht, noch nicht, nie, ne, não, ainda não, aún no, todavía no, pas, pas encore, niet,
nog niet, sin, sem, jeszcze nie, ještě ne, nije, nisu, nem, inte, ikke, ei, nu este, не, ще не`);
const beginnings =
  listed(`adopt, adot, reserv, rezer, zarez, vermit, gereserv, geadopt, udomlj, örökbe, gazdis, foglalt, усыновл, усиновл,
осинов, пристро, прилашт, удомљ`);
const negatedWord = new RegExp(
  `^(?:${nots.join("|")}) ?(?:(?:${beginnings.join("|")})\\p{L}*|dead|deceased|deleted|archived|hidden|returned|left|transferred)$`,
  "u",
);

/** True for a word, as `wordKey` leaves it, that takes nothing of an animal. */
export const saysNothing = (key: string): boolean => nothings.has(key) || negatedWord.test(key);

/** What may stand behind a word that says that it is there, beside numbers of kennels and days. */
export const harmless: ReadonlySet<string> = new Set(
  listed(`now, today, immediately, at, in, the, and, kennel, kennels, cage, room, run, shelter, offsite, onsite, pair, bonded, together, care, home, foster,
ahora, ya, hoy, inmediatamente, jaula, canil, perrera, refugio, pareja, en, el, casa, de, acogida, adopcion, jetzt, sofort, ab, zwinger, zimmer, paar, auf, im, tierheim, pflegestelle,
maintenant, immediatement, box, couple, au, famille, d, accueil, nu, direct, hok, koppel, het, asiel, gastgezin, agora, ja, casal, abrigo`),
);

/** What a value means, and how that is known: somebody said so, the table, or a stem of death. */
export interface Understood {
  readonly meaning: Meaning;
  readonly by: "told" | "list" | "stem";
}

/** What parts a status from its rest: `Available - In Foster`, `Hold: Stray`, `Sold (8 May)`. */
const restOfStatus = /\s+[-\u2013\u2014]\s*|\s*[:(].*/u;

/** The other gender behind a word: `Adoptado/a`, `Adopté·e`. */
const otherGender = /[/·.-][ae]$/iu;

const readMax = 10_000;

/** Reads what shelters write for a status, with the words that this import's options add. */
export class Statuses {
  readonly #own: ReadonlyMap<string, Meaning>;
  /** What was read before: a file has few words, and many records. */
  readonly #read = new Map<string, Understood | undefined>();
  /** What an animal has whose status is blank or not in the file; undefined to ask for it. */
  readonly whenMissing: Meaning | undefined;

  constructor(own: ReadonlyMap<string, Meaning> = new Map(), whenMissing?: Meaning) {
    this.#own = own;
    this.whenMissing = whenMissing;
  }

  /** The same, with words of a layout behind those of the options. */
  withWords(words: ReadonlyMap<string, Meaning>): Statuses {
    if (words.size === 0) return this;
    const own = new Map([...words, ...this.#own]);
    return new Statuses(own, this.whenMissing);
  }

  /** True for a value that an option or the list of words tells, and no stem. */
  knows(value: unknown): boolean {
    const by = this.understood(value)?.by;
    return by === "told" || by === "list";
  }

  understood(value: unknown): Understood | undefined {
    if (isBlank(value)) return undefined;
    const text = wordOf(value);
    if (this.#read.has(text)) return this.#read.get(text);
    const understood = this.#understand(text, typeof value === "string");
    if (this.#read.size < readMax) this.#read.set(text, understood);
    return understood;
  }

  meaningOf(value: unknown): Meaning | undefined {
    return this.understood(value)?.meaning;
  }

  stems(): ReadonlyMap<string, Meaning> {
    const found = [...this.#read].flatMap(([word, read]) =>
      read?.by === "stem" ? [[word, read.meaning] as const] : [],
    );
    return new Map(found);
  }

  #understand(text: string, isText: boolean): Understood | undefined {
    const told = this.#own.get(statusKey(text)) ?? this.#own.get(statusKey(withoutDate(text)));
    if (told !== undefined) return { meaning: told, by: "told" };
    if (!isText) return undefined;
    return byTable(text) ?? (saysDead(withoutDate(text)) ? dead : undefined);
  }
}

/** What a status is compared by: as a word, or as it is if it has no letters. */
export const statusKey = (text: string): string => wordKey(text) || text.trim();

const dead: Understood = { meaning: "gone", by: "stem" };

const date = [
  String.raw`\d{1,2}[/.-]\d{1,2}(?:[/.-]\d{2,4})?\.?`,
  String.raw`\d{4}-\d{2}-\d{2}`,
  String.raw`\d{1,2}(?:\.|st|nd|rd|th)?[\s-]+(?:de\s+)?(?<monthBehind>\p{L}{3,10})\.?(?:,?[\s-]+(?:de\s+)?\d{2,4})?`,
  String.raw`(?<monthBefore>\p{L}{3,10})\.?\s+\d{1,2}(?:st|nd|rd|th)?(?:,?\s+\d{4})?`,
].join("|");
const dateBehind = new RegExp(
  String.raw`^(?<word>\p{L}.*?)[\s,;:(-]+(?:(?:on|since|as of|el|desde|am|seit|le|depuis|op|sinds|em)\s+)?(?:${date})\)?$`,
  "iu",
);
const statusCharactersMax = 200;

/** A status without the date behind it: `Adopted 3/14`, `Adoptada 14/3`, `Sold (8 May)`. */
function withoutDate(text: string): string {
  const trimmed = text.trim();
  if (trimmed.length > statusCharactersMax || !/\d/.test(trimmed)) return trimmed;
  const { word, monthBehind, monthBefore } = dateBehind.exec(trimmed)?.groups ?? {};
  const month = monthBehind ?? monthBefore;
  const isDate = word !== undefined && (month === undefined || monthOf(month) !== undefined);
  return isDate ? word : trimmed;
}

function byTable(text: string): Understood | undefined {
  const whole = words.get(wordKey(text));
  if (whole !== undefined) return { meaning: whole, by: "list" };
  const undated = withoutDate(text);
  const [first = ""] = undated.split(restOfStatus, 1);
  const meaning = words.get(wordKey(first)) ?? words.get(wordKey(first.replace(otherGender, "")));
  return meaning && withRest(meaning, wordKey(undated.slice(first.length)));
}

const negated = /^(?:no|non|nein|nee|nao|nie|ne|false|0)$/;

/** What a known word means with the rest behind it; undefined if that may change it. */
function withRest(meaning: Meaning, rest: string): Understood | undefined {
  const itself = { meaning, by: "list" } as const;
  if (rest === "" || besides.has(rest) || rest === "none") return itself;
  const listed = words.get(rest);
  if (meaning === "available" && negated.test(rest)) return { meaning: "gone", by: "list" };
  if (saysDead(rest)) return { meaning: "gone", by: listed === undefined ? "stem" : "list" };
  if (meaning === "available" && listed === undefined) {
    const isHarmless = (word: string) => /^\d+$/.test(word) || harmless.has(word);
    return rest.split(" ").every(isHarmless) ? itself : undefined;
  }
  const isTaken = meaning === "available" || (meaning === "pending" && listed === "gone");
  return isTaken && listed !== undefined ? { ...itself, meaning: listed } : itself;
}

const deadWords =
  /(?:^| )(?:euth\w*|death|dead|died|deceas\w*|dispos(?:al|ed)?|dispo|doa|cremat\w*|muert\w*|murio|fallec\w*|eutanas\w*|verstorben|gestorben|tot|eingeschlafert|deced\w*|mort[eos]*|morreu|falec\w*|obito|overleden|ingeslapen|dood|zgon\w*|zmarl\w*|padl[aeoy]?|uspion\w*|eutanaz\w*|uhynu\w*|zemrel\w*|zomrel\w*|utracen\w*|umrt\w*)(?= |$)/;
/** Somebody else who died, or a word that turns it round. */
const otherDead =
  /(?:^| )(?:owner|guardian|mother|father|parent|mom|dad|brother|sister|sibling|littermate|mate|handler|tutor|duen[oa]|madre|padre|besitzer\w*|halter\w*|mutter|vater|mere|pere|proprietaire|dono|dona|eigenaar|alive|tooth|teeth|eye|tail|leg|tired|request|not|no|non)(?= |$)/;
const deadWordsMax = 6;

/** True for a short text that says that the animal died, in a column that tells such things. */
export function saysDead(value: unknown): boolean {
  if (typeof value !== "string") return false;
  const key = wordKey(value);
  return deadWords.test(key) && !otherDead.test(key) && key.split(" ").length <= deadWordsMax;
}

/** Reads the values of `--status`: `word=meaning` pairs parted by commas. Throws UsageError. */
export function parseStatusWords(texts: readonly string[]): ReadonlyMap<string, Meaning> {
  const own = new Map<string, Meaning>();
  const pairs = texts.flatMap((text) => pairsIn(text, (pair) => pair.lastIndexOf("=")));
  for (const { pair, left: word, right } of pairs) {
    const meaning = meaningNamed(right);
    if (right === "?" && word !== "") {
      throw new UsageError(
        `--status: say what ${JSON.stringify(word)} means: replace the ? by ${meanings.join(", ")}.`,
        "gone means that such an animal is not for adoption, for whatever reason.",
      );
    }
    if (word === "" || meaning === undefined) {
      throw new UsageError(
        `--status: expected WORD=${meanings.join("|")}, found ${JSON.stringify(pair.trim())}; for example --status 'Disponible=available,EUTHANIZE=gone'`,
        "rehome pets import --help",
      );
    }
    own.set(statusKey(word), meaning);
  }
  return own;
}

export function statusWordsText(pairs: Iterable<readonly [word: string, meaning: string]>): string {
  return [...pairs]
    .map(([word, meaning]) => `${/[,=]/.test(word) ? `"${word}"` : word}=${meaning}`)
    .join(",");
}

const flags = (list: string): ReadonlySet<string> => new Set(fold(list).split(" "));
const yeses = flags(
  "y yes t true x 1 ✓ ✔ si s ja j oui o vrai sim verdadero wahr tak ano да так da evet igen kylla ναι var van 是 已 有 예 네 はい あり ○ 〇 ◯",
);
const noes = flags(
  "n no f false 0 nein non faux nee nao falso falsch nie ne - нет ні не hayir nem nej nei ei nu οχι yok nincs 否 未 无 無 没有 沒有 아니오 아니요 いいえ なし ×",
);
/** A value as a flag may be written: by people, or by the tools that pass files on. */
const flagOf = (value: unknown): string =>
  typeof value === "string" ? fold(value.trim().replace(/^([01])\.0+$/, "$1")) : wordOf(value);

export const isYes = (value: unknown): boolean => yeses.has(flagOf(value));
export const isNo = (value: unknown): boolean => noes.has(flagOf(value));

/** What stands where there is no id. */
const placeholder =
  /^(?:#?n\/?a|#(?:name|null|num|ref|value)[?!]?|#div\/0!|null|nil|none|nan|undefined|unknown|tbd|0+|[-\u2013?.]+)$/i;

export const isPlaceholderId = (id: string): boolean => placeholder.test(id.trim());
