/**
 * What the columns of a list are called, in all languages: the only table of headings. One that says
 * whether an animal is for adoption counts as a whole and never by a part, so that
 * `Adoption fee`, `Transferred from` and `Last outcome` are none of them.
 */
import { columnKey, type MapTarget } from "./columns.ts";
import {
  adoptionNouns,
  deaths,
  departures,
  hides,
  setOf,
  shows,
  wordKey,
  wordsOf,
} from "./words.ts";

const oneOf = (text: string) => [...setOf(text)].join("|");

/** Dates in scripts that part no words. */
const joinedDates = "日期, 时间, 時間, 日, 날짜, 일자, 일";
const dates = `
${joinedDates}, date, dates, datetime, date time, time, timestamp, day, fecha, fec, fch, data, dt, datum, dat, tag, dia, jour, dato, dzien, when, year, ano, anno, annee, jahr, jaar, rok, дата, год, день, датум, tarihi,
tarih, datuma, datumul, kelte, napja, pvm, paiva, paivamaara, ημερομηνια`;
/** What stands beside the word that matters, and changes nothing of it. */
const beside = `
${dates}, is, was, has, czy, been, be, are, the, of, on, at, el, la, los, las, le, les, de, del, d, l, du, des, da, do, das, dos, der, die, den, dem, di, della, dello, dell, il, lo, een, het, van, am, an, a, em, op, dnia,
dne, ete, est, zum, zur, ist, wurde, esta, fue, foi, ha, sido, jest, zostal{,a}, byl, byla, already, ya, ja, deja, schon, bereits, gia, juz, uz, currently, now, shelter, animal{,s,es}, animais, animale, pet, pets, dog,
dogs, cat, cats, mascota, perro, perra, gato, gata, tier, tieres, hund, katze, dier, hond, kat, chien, chat, cane, gatto, zwierze{,cia}, zwierzat, pies, psa, kot, kota, pes, kocka, kocky, zvire, zvirete, zviera{,ta},
macka, mi, ли, на, животного, az, 宠物, 动物, 動物, 是否, 여부, e, er, ar, je, este, bol, bola, bolo`;
/** The same behind it alone: in front, a no turns the word round. */
const answers = "flag, yn, y, n, yes, no, nein";
/** The same where nothing parts the words of a heading. */
const joinedBefore = `
is, was, has, date, dateof, dated{,e,a}, fecha, fechade{,la}, data, datad{e,a,i}, datum, dt, animal, pet, dog, cat, 是否, 是否被, 是否已`;
const joinedBehind = `date, datetime, datum, dato, paiva, dt, at, on, am, tag, flag, yn, tarihi, ${joinedDates}, 여부`;

const names = `name, names, nombre, nom, nome, naam, imie, jmeno, meno, id, first, last, full, fullname, surname, apellido{,s}, number, nazwisko, имя, ad, adi, soyad, soyadi, neve, numele, 姓名, 名字, 이름, 이름명, 명, 名`;
/** Of somebody who took an animal; those of reservations alone are where one reserves. */
const persons = `${names}, user, usuario, email, mail, phone, telephone, telefon{,o}, contact{,o}, iletisim, address, телефон, 电话, 電話`;

/**
 * What a column tells, and what it is called; the first that fits. `rules` in evidence.ts has what
 * a value of each means.
 */
const headings = {
  available: `
${wordsOf("available")}, available to adopt, ready for {home,adoption,rehoming}, availability flag, availability, disponibilidad{,e}, disponibilite, disponibilita, verfugbarkeit, beschikbaarheid, dostepnosc, dostupnost,
{in,apto} adopcion, disponible {,en }adopcion, disponivel adocao, adoptierbar, in vermittlung, disponible adoption, da adottare, disponibile per adozione, do adopcie, na adopci, можно забрать, доступ{ний,ен,на,но},
dostupan, sahiplendirilebilir mi, adoptoitavissa, διαθεσιμο για υιοθεσια, 可认养, 可被领养, 可被領養`,
  availableFrom: `
available {from,since,on,date}, disponi{ble,vel} desde, date available, disponible a partir, verfugbar ab, disponible a partir du, beschikbaar vanaf`,
  death: deaths,
  // How it left, in words.
  outcome: `
{,final }outcome, outcome {type,status}, disposition, disposition type, exit type, exit status, departure type, discharge type, resultado, desfecho, tipo {,de }salida, tipo {,de }egreso, tipo baja, tipo {,de }saida,
abgangsart, art des abgangs, type {,de }sortie, tipo {,di }uscita, vertrektype`,
  way: "outcome subtype, outcome sub type, disposition subtype, exit subtype",
  departure: `
${departures}, depart{ure,ed}, gone, leave, check{,ed} out, checkout, {,owner }claimed, outcome date, outcome datetime, outcome date time, exit, exited, discharge{,d}, release, left, left shelter, left care, date out,
out date, dateout, outdate, outtake, leaving, adopted redeemed, disposition date, moved out, salida, egreso, traslado, sortie, sorti, depart, abgang, abgangs, abgangsdatum, auszug, auszugsdatum, ausgezogen, ausgang,
ausgangsdatum, saida, uscita, trasferimento, vertrek, vertrekdatum, datum uit, uit, uitgang, uitschrijving, wydan{ia,ie,o}, wyjsci{a,e}, odejsci{a,e}, opuszczenia, przekazania, odchod{,u}, propusteni, vydani{,a}, vydaj,
vydaja, odovzdani{a,e}, predani, oddaj{a,e}, выдач{а,и}, видач{а,і,и}, выбыти{е,я}, выбыл, выбыла, передан{,а}, odlazak, odlaska, cikis,
ayrilis, tavozas, tavozott, kikerules, iesire, iesirii, plecar{e,ii}, 离开, 離開, 离所, 離所, 出所, 퇴소, 출소, dejo el refugio, saiu do abrigo, tierheim verlassen, sortie du refuge, lasciato il rifugio, odchod z utulku,
napustanja azila, zapustila zavetisce, покинуло приют, напуснало приюта, barinaktan ayrilan, lamnade djurhemmet, forlot hjelpesenter, elhagyta a menhelyet, εξοδος απο το καταφυγιο`,
  taker: `
transfer{,red} to, transferred out to, transfer destination, transfer agency, {,re,owner }claimed by, trasferito a, transferido a, trasladado a, verlegt nach, abgeholt von, transfere a, overgeplaatst naar, przekazany do,
predan komu`,
  adopter: `
adopter{,s}, adopted {by,to}, adoptive {family,parent,parents,owner}, new home, buyer, adopting family, new owner, new family, adopter person, {,dueno ,tutor }adoptante, adoptad{o,a} por, nuevo dueno, nueva familia,
{familia,famille} adoptante, familia adoptiva, adoptant, adopte{,e} par, nouveau proprietaire, famille adoptive, adotante, adotad{o,a} por, dono, novo dono, novo tutor, adottante, adottat{o,a} da, nuovo proprietario,
nuova famiglia, famiglia adottiva, adoptivfamilie, adoptiert von, vermittelt an, neuer besitzer, neuer halter, neue familie, geadopteerd door, nieuwe eigenaar, nieuw baasje, adoptuj{acy,uci}, osoba adoptujaca,
nowy wlasciciel, osvojitel, novy majitel, adoptoval, усыновитель, новый хозяин, новый владелец, новая семья, осиновител, нов собственик, удомитељ, udomitelj, novi vlasnik, sahiplenen, sahiplenen kisi, evlat {edinen,eden},
yeni sahibi, yeni sahip, orokbefogado, uj gazdi, uj gazda, gazdis person, adoptator, noul stapan, noul proprietar, adoptor, adoptoija, ny agare, ny ejer, uusi omistaja, υιοθετηθηκε απο, 领养人, 領養人, 认养人, 認養人, 领养者, 領養者, 認養者,
입양자`,
  adoption: `
${wordsOf("sold")}, adoptd, adopt, has {,a }home, taken home, sold out, sale date, date of sale, went home, gone home, tiene hogar, vermittelt am, vermittlungsdatum, vermittlungstag, adoptiedatum, plaatsing, osvojen,
umiestneny, усыновлено, пристроено, усиновлен{а,о}, gazdihoz, gazdihoz kerul{,t,es}, adoptalva, пристроенные, usvojen{,a}, posvojena, 已认养, 被認養`,
  deleted: `soft delete{,d}, trashed, hide, is hold, is quarantine, has active boarding, cruelty case, non shelter, non shelter animal
${hides}`,
  reservation: `
${wordsOf("pending")}, has future adoption, hold, held, is adoption pending, has application, has hold, has active reserve, reservierung{,s}, reservering{,s}, optie, prenotazione, rezerwacji, резервирования, rezervirano,
rezervasyon, rezervare, reservasjons, 認養保留, 预约, 已预约, 預約, 予約済み`,
  reserver: `
reserved {for,by,to}, held for, hold for, promised to, reservad{o,a} para, reservad{o,a} por, reserve{,e} pour, reserve{,e} par, reserviert {fur,von}, vorgemerkt fur, gereserveerd {voor,door}, riservato {a,per},
prenotato da, zarezerwowany {dla,przez}, rezervovano pro, rezervovany pre, 预约人, 預約人, 预定人, 預定人, 予約者, 예약자`,
  reservedUntil: `
reserved until, {,on }hold until, held until, reservado hasta, reserviert bis, reserve jusqu au, gereserveerd tot`,
  active: `alive, viv{o,a}, vivant{,e}, ${shows}`,
  // When it came, or came back.
  returned: `
return{,ed}, brought back, came back, readmitted, readmission, devoluc{ion,ao}, devuelt{o,a}, reingreso, devolvid{o,a}, retour{,ne}, ruckgabe, ruckkehr, zuruck, zuruckgegeben, reso, restituzione, restituito, rientro,
terug, teruggebracht, zwrot, zwrotu, zwrocony, vracen{,i}, vraten{ie,ia,y}`,
  intake: `
intake, arriv{al,ed,e}, admission, admitted, entry, entered, entrance, date in, in date, received, intake datetime, check in, checkin, surrendered, arival, ingreso, entrada, llegada, admision, acogida, recogida, rescate,
arrivee, entree, aufnahme, aufnahmedatum, zugang, zugangsdatum, ankunft, aankomst, binnenkomst, datum in, arrivo, ingresso, chegada, resgate, przyjeci{a,e}, przybycia, prijeti, prijem, prijmu, prijati{a,e}, prichod{,u}`,
  condition: `
{,intake ,health }condition, outcome condition, health status, {,intake }asilomar status, outcome asilomar status, condic{ion,ao}, condicion {salida,ingreso}, estado de salud, gesundheitszustand, etat de sante,
condizione`,
  kennel: "kennel status",
  place: `
kennel, kennel {no,number}, cage, room, location, location name, {current,shelter} location, internal location, {current,shelter} location name, internal location name`,
  intakeType: "intake type, intake subtype, intake sub type",
  status: `
{,final }status, estatus, state, stage, current {status,stage}, record type, estado, estado actual, estado de {,la }adopcion, situacao da adocao, stato di adozione, situac{ion,ao}, situation, statut, etat, zustand,
vermittlungsstatus, adoptionsstatus, toestand, stato, stan, stav, статус, durum, durumu, allapot, statusz, stare, tila, κατασταση, 状态, 狀態, 상태, ステータス, olek, staatus, statuss, būsena, statusas, trạng thái, สถานะ, סטטוס,
الحالة, حالة, وضعیت`,
  // Words beside each other, of which one may say that it was adopted.
  tags: `
tags, tag list, tag names, product {tags,categories}, post tags, labels, badge{,s}, categories, keywords, etiqueta{,s}, categorias, marcadores, kategorien, etiquettes, tagi, kategorie, etichette, теги, категории, 标签, 標籤, タグ`,
  // A noun alone, such as `Adoption`, which may be a yes to either.
  adoptionNoun: adoptionNouns,
};

export type Tells = Exclude<keyof typeof headings, "reserver">;

/** What else may stand beside a heading, as of a person. */
const around: Partial<Record<keyof typeof headings, string>> = {
  taker: persons,
  adopter: persons,
  reservation: names,
  reserver: persons,
  status: `${adoptionNouns}, 可, 宠物, 动物, 動物, current, listing, sale, life, name, label, text, title, value`,
};

const hasDate = new RegExp(
  `(?:^| )(?:${oneOf(dates)})(?= |$)|^date|^fecha|^data(?=a)|^datum|(?:${oneOf(`date, datum, dato, paiva, ${joinedDates}`)})$`,
);

const [aside, answer, ahead, behind] = [beside, answers, joinedBefore, joinedBehind].map(oneOf);
/** As words, or where nothing parts them: `date of death`, `deceaseddate`. */
const patterns = (Object.keys(headings) as (keyof typeof headings)[]).map((key) => {
  const more = key in around ? `|${oneOf(around[key] ?? "")}` : "";
  const joined = more.replaceAll(" ", "");
  const front = `(?:(?:${aside}${more}) |(?:${ahead}${key === "status" ? joined : ""})(?! ))*`;
  const back = `(?: (?:${aside}|${answer}${more})|(?:${behind}${joined}))*`;
  const whole = oneOf(headings[key]).replaceAll(" ", " ?");
  const tells: Tells = key === "reserver" ? "reservation" : key;
  return [tells, new RegExp(`^${front}(?:${whole})${back}$`)] as const;
});

const known = new Map<string, Tells | undefined>();
const knownMax = 5_000;

/** What a column of this heading tells; undefined for all others. */
export function tellsOf(heading: string): Tells | undefined {
  if (known.size > knownMax) known.clear();
  return known.getOrInsertComputed(heading, lookedUp);
}

const headingCharactersMax = 60;
/** What stands behind a transfer that it came by: `Overgeplaatst van`, `Transferido de`. */
const ofOrigin = / (?:from|de|des|du|van|von|da|dal|od|z|ze)$/;

function lookedUp(heading: string): Tells | undefined {
  if (heading.length > headingCharactersMax) return undefined;
  // The words of camel case too: `dateAdopted`, `fecha_de_baja`.
  const key = wordKey(heading.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, " "));
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

const split = (text: string): readonly string[] => text.trim().split(/\s+/).map(columnKey);

/** What columns of a field are called in the ten languages known best, the surest first. */
export const fieldHeadings: Readonly<Record<Exclude<MapTarget, "status">, readonly string[]>> = {
  name: split(`
animalname petname dogname catname name pet nombre nombreanimal nombredelanimal nombremascota nom nomanimal naam nome nomeanimal nomedoanimal nev nume tiername rufname calledname animaltitle imie jmeno meno
imiezwierzecia jmenozvirete nume ime nimi isim hayvanadi имя кличка име ім'я 이름 名前 名字 名称 名稱 昵称 nama tên ชื่อ שם اسم title titulo titre titel titolo`),
  categoryId: split(`
species animalspecies speciesname animaltype pettype type kind animalkind category animal especie tipoanimal tipodeanimal tipanimal tierart art gattung espece diersoort soort tipo categoria clase specie gatunek druh
druhzvirete druhzvierata rodzaj typ tip vrsta вид видживотного faj allatfaj turu laji djurslag 种类 種類 物种 축종 動物種 jenis jenishewan loài`),
  externalId: split(`
animalid petid nid animal# animalno animalnumber animalcode rescueid dogid catid id idnumber recordid sheltercode tag tagnumber reference ref refno referencia code codigo expediente ficha folio numero nummer number nr no
arn matricula registro uuid guid impoundnumber shelterid numer cislo evidencnicislo evidencnecislo chip microchip`),
  updatedAt: split(`
updatedat lastupdated lastupdate updated modified lastmodified lastchanged lastchange changed statusdate datetime intakedate date fecha fechaalta datum data actualizado outcomedate dataprzyjecia datumprijeti
datumprijatia`),
};

/** Headings that other things have too: their values must say what they are. */
export const vague: ReadonlySet<string> = new Set(
  split("type kind category animal art tipo typ tip vrsta categoria clase soort pet rodzaj druh"),
);

/** What lists call dogs, cats and others, and what tells the first two in texts, as the breed. */
export const animalKinds = [
  {
    called: "Dog",
    names: setOf(`
dog, dogs, dogg{o,os,y}, pup{,s}, canine{,s}, puppy, puppies, canin{o,a,os}, perr{o,a,os,as}, perrit{o,a,os,as}, cachorr{o,a,os,as}, hund, hunde, hunder, hundar, welpe{,n}, koir{a,at}, pentu, chien{,s,ne,nes}, chiot{,s},
hond, honden, pies, psy, suka, szczeniak, pes, psi, fena, stene, pas, kuce, cao, caes, cadela, cane, cani, cucciol{o,i}, собак{а,и}, собачка, пес, песик, щенок, щеня, цуценя, куче, kutya, kutyak, caine, caini, catel,
kopek, kopekler, suns, suni, suo, koer, σκυλος, σκυλι, chó, anjing, aso, สุนัข, หมา, 狗, 狗狗, 犬, いぬ, イヌ, 개, 강아지, כלב, كلب, سگ`),
    signs: setOf(`
retriever, labrador{,a}, terrier, poodle, caniche, pudel, doodle, bernedoodle, goldendoodle, labradoodle, shepherd, pastor, schaferhund, bulldog, beagle, chihuahua, husky, siberiano, malamute, samoyed, samoyedo, akita,
shiba, rottweiler, dachshund, teckel, dackel, boxer, doberman, dalmata, dalmatian, pitbull, pug, pincher, pinscher, schnauzer, spaniel, cocker, collie, mastiff, mastin, corso, dane, bernardo, podenco, galgo, greyhound,
whippet, hound, basset, setter, pointer, vizsla, weimaraner, corgi, malinois, maltes, maltese, bichon, havanese, pomerania, pomeranian, pekingese, pekines, shih, shitzu, yorkshire, yorkie, yorkshires, dogo, heeler, jindo,
spitz, овчарка, хаски, такса, лабрадор, шпиц, 진돗개, 말티즈, 푸들, チワワ, 柴犬, 金毛, 拉布拉多, 泰迪, 柯基, 哈士奇, 萨摩耶, 中华田园犬`),
  },
  {
    called: "Cat",
    names: setOf(`
cat, cats, kitty, kitties, moggies, feline{,s}, kitten{,s}, felin{o,a,os}, gat{o,a,os,as}, gatit{o,a,os,as}, gatinh{o,a}, katze, katzen, kater, katzchen, chat, chats, chatte, chaton{,s}, kat, katten, poes, poezen, katt,
katter, kattunge, kiss{a,at}, kot, koty, kotka, kotek, kocka, kocky, kocour, kotě, macka, macky, muc, muca, maček, mačke, mače, mačić, kocur, gatt{o,a,i}, gattin{o,i}, кот{,ик}, котенок, кошка, кошки, кошеня, кіт, кішка,
котка, macska{,k}, pisica, pisici, kedi, kediler, kakis, katės, kass, γατα, mèo, kucing, pusa, แมว, 貓, 猫, 猫咪, ねこ, ネコ, 고양이, חתול, قطة, گربه`),
    signs: setOf(`
siames, siamesa, siamese, shorthair, longhair, wirehair, persian, persa, coon, bengal, bengali, ragdoll, sphynx, sphinx, tabby, calico, tortie, tortoiseshell, tuxedo, ginger, moggy, russian, angora, birman, birmano,
himalayan, abyssinian, abisinio, burmese, fold, munchkin, manx, savannah, somali, toyger, tonkinese, domestic, dsh, dlh, dmh, europeo, europees, europese, europaisch, tekir, sarman, 橘猫, 狸花猫, 三花, 奶牛猫, 布偶猫, 코숏`),
  },
  {
    called: undefined,
    names: setOf(`
rabbit{,s}, bunny, bunnies, bird, birds, parrot{,s}, horse, horses, pony, donkey, goat, goats, sheep, pig, pigs, hamster, rat, rats, mouse, mice, ferret, reptile{,s}, turtle, tortoise, snake, lizard, fish, chicken{,s},
rooster, duck, ducks, livestock, equine, avian, rodent, guinea pig, small {animal,furry,mammal}, conejo{,s}, ave, aves, caballo{,s}, roedor, kaninchen, vogel, pferd, pferde, meerschweinchen, kleintier{,e}, nager, lapin,
lapins, oiseau{,x}, cheval, chevaux, rongeur, konijn{,en}, vogels, paard, paarden, kanin, krolik{,i}, ptak, kralik, kralici, zajac, potkan{,i}, szczur, morce, coelho{,s}, cavalo{,s}, coniglio, кролик, птица, попугай,
хомяк, nyul, iepure, tavsan, kus, zec, papagaj, thỏ, kelinci, กระต่าย, 兔, 兔子, 鳥, 토끼, うさぎ`),
    signs: setOf(""),
  },
];

export const species = new Set(animalKinds.flatMap(({ names }) => [...names]));
