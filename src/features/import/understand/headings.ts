/**
 * What the columns of a list are called, in all languages: the only table of headings. One that says
 * whether an animal is for adoption counts as a whole and never by a part, so that
 * `Adoption fee`, `Transferred from` and `Last outcome` are none of them.
 */
import type { MapTarget } from "./columns.ts";
import { deaths, listed, notForAdoption, wordKey, wordsOf } from "./words.ts";

/** What a column tells. `rules` in evidence.ts has what a value of each means. */
export type Tells =
  /** In words: a second status, how it left, how it is, where it is kept. */
  | "status"
  | "outcome"
  | "condition"
  | "kennel"
  | "way"
  | "place"
  | "intakeType"
  /** By yes and no, a date or a name. */
  | "death"
  | "departure"
  | "taker"
  | "adoption"
  | "adopter"
  | "reservation"
  | "reservedUntil"
  | "deleted"
  | "active"
  | "available"
  | "availableFrom"
  /** By a noun alone, such as `Adoption`, which may be a yes to either. */
  | "adoptionNoun"
  /** When it came, or came back. */
  | "intake"
  | "returned";

const oneOf = (text: string) =>
  [...new Set(listed(text))].toSorted((a, b) => b.length - a.length).join("|");

/** Dates in scripts that part no words. */
const joinedDates = "日期, 时间, 時間, 日, 날짜, 일자, 일";
const dates = `date, dates, datetime, date time, time, timestamp, day, fecha, fec, fch, data, dt, datum, dat, tag, dia, jour,
dato, dzien, when, year, ano, anno, annee, jahr, jaar, rok
дата, год, день, датум, tarihi, tarih, datuma, datumul, kelte, napja, pvm, paiva, paivamaara, ημερομηνια, ${joinedDates}`;
/** What stands beside the word that matters, and changes nothing of it. */
const beside = `${dates}, is, was, has, been, be, are, the, of, on, at, el, la, los, las, le, les, de, del, d, l, du, des, da,
do, das, dos, der, die, den, dem, di, della, dello, dell, il, lo, een, het, van, am, an, a, em, op, dnia, dne, ete, est, zum, zur, ist, wurde,
esta, fue, foi, ha, sido, jest, zostal, zostala, byl, byla, already, ya, ja, deja, schon, bereits, gia, juz, uz, currently, now,
shelter, animal, animals, pet, pets, dog, dogs, cat, cats, mascota, perro, perra, gato, gata, animales, animais,
tier, tieres, hund, katze, dier, hond, kat, chien, chat, cane, gatto, animale, zwierze, zwierzecia, zwierzat, pies, psa,
kot, kota, pes, kocka, kocky, zvire, zvirete, zviera, zvierata, macka, mi, ли, на, животного, az, 宠物, 动物, 動物, 是否, 여부, e, er, ar, je, este, bol, bola, bolo`;
/** The same behind it alone: in front, a no turns the word round. */
const answers = "flag, yn, y, n, yes, no, nein";
/** The same where nothing parts the words of a heading. */
const joinedBefore = `is, was, has, date, dateof, datede, dated, dateda, fecha, fechade, fechadela, data, datade, datada, datadi, datum, dt,
animal, pet, dog, cat, 是否, 是否被, 是否已`;
const joinedBehind = `date, datetime, datum, dato, paiva, dt, at, on, am, tag, flag, yn, tarihi, ${joinedDates}, 여부`;

const adoptionNouns = `adoption, adoptions, adopcion, adocao, adozione, adopcja, adopcji, adopce, adopcie, adopcia, adoptie,
vermittlung, vermittlungs, rehoming, adoptions, adopsjon, adopsjons
усыновление, усыновления, пристройство, пристройства, прилаштування, усиновлення, осиновяване, осиновяването, udomljavanje, udomljavanja,
udomljenje, udomljenja, удомљавања, удомљења, sahiplendirme, sahiplenme, evlat edinme, evlat edinilme, evlat edindirme, orokbefogadas, orokbefogadasi, orokbeadas, adoptie, adoptiei, adoptio, υιοθεσια, υιοθεσιας, 领养, 領養, 认养, 認養, 入养, 입양, 譲渡`;

const names = `name, names, nombre, nom, nome, naam, imie, jmeno, meno, id, first, last, full, fullname, surname, apellido, apellidos, number,
nazwisko, имя, ad, adi, soyad, soyadi, neve, numele, 姓名, 名字, 이름, 이름명, 명, 名`;
/** Of somebody who took an animal; those of reservations alone are where one reserves. */
const contacts = `email, mail, phone, telephone, telefono, telefon, contact, contacto, iletisim, address, телефон, 电话, 電話`;

/** What a column tells, what it is called, and what else may stand beside it, as of a person. */
const nouns: readonly (readonly [Tells, headings: string, around?: string])[] = [
  [
    "available",
    `${wordsOf("available")}
available to adopt, availability flag, availability, disponibilidad, disponibilidade, disponibilite
disponibilita, verfugbarkeit, beschikbaarheid, dostepnosc, dostupnost, in adopcion, disponible adopcion, disponible en adopcion, apto adopcion
disponivel adocao, adoptierbar, in vermittlung, disponible adoption, da adottare, disponibile per adozione, do adopcie, na adopci
можно забрать, доступний, доступен, доступна, доступно, dostupan, sahiplendirilebilir mi, adoptoitavissa, διαθεσιμο για υιοθεσια, 可认养, 可被领养, 可被領養`,
  ],
  [
    "availableFrom",
    `available from, available since, available on, disponible desde, date available, available date,
disponible a partir, verfugbar ab, disponivel desde, disponible a partir du, beschikbaar vanaf`,
  ],
  ["death", deaths],
  [
    "outcome",
    `outcome, final outcome, outcome type, outcome status, disposition, disposition type, exit type, exit status, departure type, discharge type,
resultado, desfecho, tipo salida, tipo de salida, tipo egreso, tipo de egreso, tipo baja, tipo saida, tipo de saida,
abgangsart, art des abgangs, type de sortie, type sortie, tipo uscita, tipo di uscita, vertrektype`,
  ],
  ["way", "outcome subtype, outcome sub type, disposition subtype, exit subtype"],
  [
    "departure",
    `departure, departed, gone, leave, check out, checkout, checked out, claimed, owner claimed, stolen, escaped, transfer out, transferred out, outcome date, outcome datetime, outcome date time, exit, exited, discharge, discharged, release, released, transfer, transferred, transfered, left, left shelter, left care, date out, out date, dateout, outdate, outtake, leaving, reclaimed, reclaim,
returned to owner, return to owner, rto, redeemed, adopted redeemed, disposition date, moved out
salida, egreso, baja, traslado, trasladado, trasladada, transferido, transferida, reclamado, devuelto al dueno
sortie, sorti, depart, transfere, transferee
abgang, abgangs, abgangsdatum, auszug, auszugsdatum, ausgezogen, ausgang, ausgangsdatum, verlegt
saida, uscita, trasferito, trasferita, trasferimento
vertrek, vertrekdatum, datum uit, uit, uitgang, uitschrijving, overgeplaatst
wydania, wydanie, wydano, wyjscia, wyjscie, odejscia, odejscie, opuszczenia, przekazania, przekazany
odchod, odchodu, propusteni, vydani, vydaj, vydaja, vydania, odovzdania, odovzdanie, predani
выбытие, выбытия, выбыл, выбыла, передан, передана, odlazak, odlaska, cikis, ayrilis, tavozas, tavozott, kikerules, iesire, iesirii, plecare, plecarii,
离开, 離開, 离所, 離所, 出所, 퇴소, 출소`,
  ],
  [
    "taker",
    `transfer to, transferred to, transferred out to, transfer destination, transfer agency, claimed by, reclaimed by, owner claimed by, trasferito a, transferido a, trasladado a,
verlegt nach, abgeholt von, transfere a, overgeplaatst naar, przekazany do, predan komu`,
    `${names}, ${contacts}`,
  ],
  [
    "adopter",
    `adopter, adopters, adopted by, adopted to, adoptive family, adoptive parent, adoptive parents, new home, buyer, adoptive owner, adopting family, new owner, new family, adopter person, adoptante, dueno adoptante, tutor adoptante, adoptado por, adoptada por, nuevo dueno, nueva familia,
familia adoptante, familia adoptiva, adoptant, adoptante, adopte par, adoptee par, nouveau proprietaire, famille adoptante, famille adoptive, adotante, adotado por, adotada por,
dono, novo dono, novo tutor, adottante, adottato da, adottata da, nuovo proprietario, nuova famiglia, famiglia adottiva, adoptivfamilie, adoptiert von, vermittelt an, neuer besitzer, neuer halter, neue familie,
adoptant, geadopteerd door, nieuwe eigenaar, nieuw baasje, adoptujacy, osoba adoptujaca, nowy wlasciciel, osvojitel, novy majitel, adoptoval, adoptujuci
усыновитель, новый хозяин, новый владелец, новая семья, осиновител, нов собственик, удомитељ, udomitelj, novi vlasnik, sahiplenen, sahiplenen kisi, evlat edinen, evlat eden, yeni sahibi,
yeni sahip, orokbefogado, uj gazdi, uj gazda, gazdis person, adoptator, noul stapan, noul proprietar, adoptor, ny agare, ny ejer, uusi omistaja, υιοθετηθηκε απο, adoptoija, 领养人, 領養人, 认养人, 認養人, 领养者, 領養者, 認養者, 입양자`,
    `${names}, ${contacts}`,
  ],
  [
    "adoption",
    `${wordsOf("sold")}
adoptd, adopt, sale date, date of sale, went home, gone home, tiene hogar, vermittelt am, vermittlungsdatum, vermittlungstag
adoptiedatum, plaatsing, osvojen, umiestneny, усыновлено, пристроено, усиновлена, усиновлено
gazdihoz, gazdihoz kerul, gazdihoz kerult, gazdihoz kerules, adoptalva, пристроенные, usvojen, usvojena, posvojena, 已认养, 被認養`,
  ],
  [
    "deleted",
    "is hold, is quarantine, has active boarding, cruelty case, non shelter, non shelter animal",
  ],
  [
    "reservation",
    `${wordsOf("pending")}
has future adoption, hold, held, is adoption pending, has application, has hold, has active reserve, reservierung, reservierungs
reservering, reserverings, optie, prenotazione, rezerwacji, резервирования, rezervirano, rezervasyon, rezervare, reservasjons, 認養保留
预约, 已预约, 預約, 予約済み`,
    names,
  ],
  [
    "reservation",
    `reserved for, reserved by, reserved to, held for, hold for, promised to, reservado para, reservada para, reservado por, reservada por,
reserve pour, reservee pour, reserve par, reservee par, reserviert fur, reserviert von, vorgemerkt fur, gereserveerd voor, gereserveerd door,
riservato a, riservato per, prenotato da, zarezerwowany dla, zarezerwowany przez, rezervovano pro, rezervovany pre,
预约人, 預約人, 预定人, 預定人, 予約者, 예약자`,
    `${names}, ${contacts}`,
  ],
  [
    "reservedUntil",
    "reserved until, hold until, held until, on hold until, reservado hasta, reserviert bis, reserve jusqu au, gereserveerd tot",
  ],
  [
    "deleted",
    `deleted, delete, archived, archive, removed, inactive, inactivated, withdrawn, hidden, disabled, discarded, unavailable, unlisted,
not for adoption, not available, not available for adoption, not adoptable, do not publish, permanent foster, ${notForAdoption}
borrado, borrada, borrado logico, eliminado, eliminada, eliminacion, archivado, archivada, inactivo, inactiva, oculto, oculta, no disponible, no adoptable, anulado
excluido, excluida, exclusao, deletado, deletada, apagado, arquivado, arquivada, inativo, inativa, indisponivel
geloscht, loschdatum, archiviert, inaktiv, deaktiviert, nicht verfugbar, nicht vermittelbar, versteckt, ausgeblendet
supprime, supprimee, suppression, archive, archivee, inactif, indisponible, desactive, masque
verwijderd, gearchiveerd, inactief, niet beschikbaar, verborgen
eliminato, eliminata, cancellato, cancellata, archiviato, archiviata, inattivo, non disponibile, nascosto
usuniety, usunieta, usuniete, zarchiwizowany, zarchiwizowana, nieaktywny, nieaktywna, niedostepny, ukryty
smazano, smazany, smazana, smazane, archivovano, archivovany, neaktivni, neaktivny, nedostupny, vymazany, vymazane, skryty
удален, удалена, удалено, видалено, видалений, видалена, архив, в архиве, архів, в архіві, скрыт, скрыта, silindi, arsivlendi, pasif, obrisan, obrisana, obrisano, arhiviran, arhivirano, archiviran, torolt, torolve, archivalt, archivalva, sters, arhivat, inactiv, borttagen,
arkiverad, slettet, poistettu, 已删除, 删除, 已刪除, 刪除, 已下架, 下架, 削除, 削除済, 삭제, 삭제됨`,
  ],
  [
    "active",
    `active, published, publish, visible, enabled, listed, online, live, displayed, display online, show online, show on website, show on web, display on website, publicly visible, is public, on website
activo, activa, publicado, publicada, habilitado, vigente, mostrar en web
ativo, ativa, visivel
aktiv, veroffentlicht, sichtbar
actif, publie, publiee
actief, gepubliceerd, zichtbaar
attivo, attiva, pubblicato, visibile
aktywny, aktywna, opublikowany, widoczny
aktivni, aktivny, zverejneno, zverejneny, viditelny
активен, активен запис, активна, активно, активный, активний, опубликован, опубликована, опубликовано, опубліковано, aktif, yayinda, aktivan, objavljen, objavljeno, publikalt, activ, publicat, publicerad, julkaistu, ενεργο, ενεργος, ενεργη, 上架, 已上架, 启用, 啟用, 公開, 公开`,
  ],
  [
    "returned",
    `return, returned, brought back, came back, readmitted, readmission, devolucion, devuelto, devuelta, reingreso, devolucao, devolvido, devolvida, retour, retourne,
ruckgabe, ruckkehr, zuruck, zuruckgegeben, reso, restituzione, restituito, rientro, terug, teruggebracht, zwrot, zwrotu, zwrocony, vraceni, vracen, vratenie, vratenia, vrateny`,
  ],
  [
    "intake",
    `intake, arrival, arrived, arrive, admission, admitted, entry, entered, entrance, date in, in date, received, intake datetime, check in, checkin, surrendered, arival
ingreso, entrada, llegada, admision, acogida, recogida, rescate
arrivee, entree, aufnahme, aufnahmedatum, zugang, zugangsdatum, ankunft, aankomst, binnenkomst, datum in, arrivo, ingresso, chegada, resgate
przyjecia, przyjecie, przybycia, prijeti, prijem, prijmu, prijatia, prijatie, prichodu, prichod`,
  ],
  [
    "condition",
    `condition, outcome condition, intake condition, health status, health condition, asilomar status, outcome asilomar status, intake asilomar status,
condicion, condicion salida, condicion ingreso, estado de salud, gesundheitszustand, etat de sante, condicao, condizione`,
  ],
  ["kennel", "kennel status"],
  [
    "place",
    `kennel, kennel no, kennel number, cage, room, location, location name, current location, shelter location, internal location,
current location name, shelter location name, internal location name`,
  ],
  ["intakeType", "intake type, intake subtype, intake sub type"],
  [
    "status",
    `status, final status, state, stage, current status, current stage, record type, estado, estado actual, estado de adopcion, estado de la adopcion, situacao da adocao, stato di adozione, estatus, situacion, situation, situacao, statut, etat, zustand,
vermittlungsstatus, adoptionsstatus, toestand, stato, stan, stav, статус, durum, durumu, allapot, statusz, stare, tila, κατασταση, 状态, 狀態, 상태`,
    `${adoptionNouns}, 可, 宠物, 动物, 動物, current, listing`,
  ],
  ["adoptionNoun", adoptionNouns],
];

const hasDate = new RegExp(
  `(?:^| )(?:${oneOf(dates)})(?= |$)|^date|^fecha|^data(?=a)|^datum|(?:${oneOf(`date, datum, dato, paiva, ${joinedDates}`)})$`,
);

/** As words, or where nothing parts them: `date of death`, `deceaseddate`. */
const patterns = nouns.map(([tells, list, around = ""]) => {
  const [before, after] = [`${beside}, ${around}`, `${beside}, ${answers}, ${around}`].map(oneOf);
  const joined = (text: string) => oneOf(text).replaceAll(" ", "");
  const ahead = joined(tells === "status" ? `${joinedBefore}, ${around}` : joinedBefore);
  const front = `(?:(?:${before}) |(?:${ahead})(?! ))*`;
  const back = `(?: (?:${after})|(?:${joined(`${joinedBehind}, ${around}`)}))*`;
  const whole = oneOf(list).replaceAll(" ", " ?");
  return [tells, new RegExp(`^${front}(?:${whole})${back}$`)] as const;
});

const known = new Map<string, Tells | undefined>();
const knownMax = 5_000;

/** What a column of this heading tells; undefined for all others. */
export function tellsOf(heading: string): Tells | undefined {
  if (known.has(heading)) return known.get(heading);
  const found = lookedUp(heading);
  if (known.size < knownMax) known.set(heading, found);
  return found;
}

const headingCharactersMax = 60;
/** What stands behind a transfer that it came by: `Overgeplaatst van`, `Transferido de`. */
const ofOrigin = / (?:from|de|des|du|van|von|da|dal|od|z|ze)$/;

function lookedUp(heading: string): Tells | undefined {
  if (heading.length > headingCharactersMax) return undefined;
  const key = headingWords(heading);
  // Alone it is a side, too.
  if (key === "left") return undefined;
  const tells = patterns.find(([, pattern]) => pattern.test(key))?.[0];
  if (tells === "departure" && ofOrigin.test(key)) return undefined;
  return tells !== undefined && tells in ofDates && hasDate.test(key) ? ofDates[tells] : tells;
}

/** What tells something else by a date, or nothing. */
const ofDates: Partial<Record<Tells, Tells | undefined>> = {
  status: undefined,
  adoptionNoun: "adoption",
  outcome: "departure",
  available: "availableFrom",
  active: "availableFrom",
};

/** The words of a heading, those of camel case too: `dateAdopted`, `fecha_de_baja`. */
function headingWords(heading: string): string {
  return wordKey(heading.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, " "));
}

/** What columns of a field are called in the ten languages known best, the surest first. */
export const fieldHeadings: Readonly<Record<Exclude<MapTarget, "status">, readonly string[]>> = {
  name: `animalname petname dogname catname name pet nombre nombreanimal nombredelanimal nombremascota nom nomanimal naam
    nome nomeanimal nomedoanimal nev nume tiername rufname calledname animaltitle imie jmeno meno imiezwierzecia jmenozvirete
    title titulo titre titel titolo`.split(/\s+/),
  categoryId:
    `species animalspecies speciesname animaltype pettype type kind animalkind category animal especie tipoanimal
    tipodeanimal tipanimal tierart art gattung espece diersoort soort tipo categoria clase specie gatunek druh druhzvirete
    druhzvierata rodzaj`.split(/\s+/),
  externalId:
    `animalid petid animal# animalno animalnumber animalcode rescueid dogid catid id idnumber recordid sheltercode
    tag tagnumber reference ref refno referencia code codigo expediente ficha folio numero nummer number nr no arn
    matricula registro uuid guid impoundnumber shelterid numer cislo evidencnicislo evidencnecislo chip microchip`.split(
      /\s+/,
    ),
  updatedAt:
    `updatedat lastupdated lastupdate updated modified lastmodified lastchanged lastchange changed statusdate
    datetime intakedate date fecha fechaalta datum data actualizado outcomedate dataprzyjecia datumprijeti datumprijatia`.split(
      /\s+/,
    ),
};

/** Headings that other things have too: their values must say what they are. */
export const vague: ReadonlySet<string> = new Set(
  "type kind category animal art tipo categoria clase soort pet rodzaj druh".split(" "),
);

export const species: ReadonlySet<string> = new Set(
  `dog dogs canine canines puppy puppies cat cats feline felines kitten kittens rabbit rabbits bunny bunnies bird birds parrot
  parrots horse horses pony donkey goat goats sheep pig pigs hamster rat rats mouse mice ferret reptile reptiles turtle
  tortoise snake lizard fish chicken chickens rooster duck ducks livestock equine avian rodent
  canino canina caninos felino felina felinos perro perra perros perras gato gata gatos gatas cachorro cachorros conejo conejos ave aves caballo caballos roedor
  hund hunde katze katzen kater kaninchen vogel vogel pferd pferde meerschweinchen kleintier kleintiere nager
  chien chiens chienne chat chats chatte lapin lapins oiseau oiseaux cheval chevaux rongeur
  hond honden kat katten poes poezen konijn konijnen vogels paard paarden katt katter kanin
  pies psy suka kot koty kotka krolik kroliki ptak pes psi fena kocka kocky kocour kralik kralici ptak macka macky kocur zajac
  cao caes cadela coelho coelhos cavalo cavalos cane cani gatto gatti coniglio
  собака собаки пес щенок кошка кошки кот котенок кролик птица попугай хомяк куче котка kutya kutyak macska macskak nyul caine caini pisica pisici iepure 狗 貓 犬 猫 개 고양이`
    .split(/\s+/)
    .map(wordKey)
    .concat("guinea pig", "small animal", "small furry", "small mammal"),
);
