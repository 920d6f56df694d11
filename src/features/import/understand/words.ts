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
  const said = text.trim().toLowerCase();
  return said === "adopted" ? "sold" : meanings.find((each) => each === said);
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

/** The text of an option that has these pairs. */
export function pairsText(pairs: Iterable<readonly [left: string, right: string]>): string {
  const quoted = (side: string) => (/[,="]/.test(side) ? `"${side}"` : side);
  return [...pairs].map((pair) => pair.map(quoted).join("=")).join(",");
}

/** The words of a table, parted by commas and lines; `adoptad{o,a}` is two, as in a shell. */
export const listed = (text: string): readonly string[] =>
  text
    .split(/\n|,(?![^{\n]*\})/)
    .flatMap((each) => expanded(each).flatMap((word) => wordKey(word) || []));

function expanded(word: string): readonly string[] {
  const [, before, forms, behind] = /^([^{]*)\{(.*?)\}(.*)$/.exec(word) ?? [];
  return forms?.split(",").flatMap((each) => expanded(`${before}${each}${behind}`)) ?? [word];
}

export const setOf = (text: string): ReadonlySet<string> => new Set(listed(text));

export const keyed = (all: Partial<Record<Meaning, string>>): ReadonlyMap<string, Meaning> =>
  new Map(
    meanings.flatMap((means) => listed(all[means] ?? "").map((word) => [word, means] as const)),
  );

/** Of a death: words for a status, and headings. */
export const deaths = `
dead, death, died, decease{,d}, pass{,ed} away, passing, dod, rip, doa, dead on arrival, rainbow bridge, regenbogenbrucke, died in care, put to sleep, pts, euthani{zed,sed,ze}, euthanasia, euth, mortality, muert{e,o,a}, murio, fallecid{o,a},
fallecimiento, fallecio, defuncion, deceso, eutanasia{,do,da}, sacrificad{o,a}, obito, morte, morto, morta, morreu, falecid{o,a}, falecimento, faleceu, tod, todes, todestag, gestorben, verstorben, sterbe, sterbedatum,
todesdatum, eingeschlafert, euthanasiert, tot, deces, decede{,e}, mort, euthanasie{,e}, overleden, overlijd{en,ens}, overlijdensdatum, sterfdatum, dood, gestorven, ingeslapen, geeuthanaseerd, decesso, decedut{o,a}, zgon,
zgonu, smierc{,i}, padl, padla, zdechl, zmarl{,a,y,e}, uspion{y,a}, eutanazj{a,i}, nie zyje, umrti{,a,e}, uhyn, uhynu{,l,la,lo,ti,tia}, zemrel{,a}, zomrel{,a}, smrt, smrti, eutanazi{e,a}, смерт{ь,и,і}, умер, умерла,
погиб, погибла, помер, померла, смърт, починал{,а}, uginu{o,la,ca}, preminu{o,la}, ölüm, öldü, vefat, elpusztul{t,as}, elhullas, elhunyt, halal, decedat{,a}, decesului, moarte, mortii, döds, dødt, avliden, avlivad,
avlivet, aflivet, afdød, døde, avled, kuollut, kuolema, kuolin, θανατο{ς,υ}, πεθανε, απεβιωσε, ευθανασια, mrtve, uhynute, falecidos, умершие, умерло, усыплено, почиване, починало, евтаназиран, eutaniziran, evtanizirana,
poginila, poginula, halott, elaltatva, usmrceno, ölmüş, 已死亡, 安樂死, 已施行安樂死, 死亡, 离世, 離世, 去世, 사망, 폐사, 안락사`;

/** How it left: words for a status, and headings. */
export const departures = `
transfer{,red,ed,ido,ida,e,ee}, transfer{,red} out, released, return{ed,} to owner, rto, reclaim{,ed}, redeemed, stolen, escaped, trasladad{o,a}, devuelto al dueno, reclamado, baja, verlegt, overgeplaatst, trasferit{o,a},
przekazany`;

/** What says that it is not for adoption, of a column and of a status: also in ASM's languages. */
const notForAdoption = `
not for adoption, not available, not available for adoption, not adoptable, no adoptable, unavailable, hidden, withdrawn, removed, deleted, archived, inactive, permanent foster, no disponible, oculto, nicht verfugbar,
nicht vermittelbar, indisponi{ble,vel}, niet beschikbaar, inativo, non disponibile, niedostepny, nedostupny, 已下架, 已刪除, 已删除, nicht zur Vergabe, steht nicht zur Adoption frei, no adoptables, no disponible para adopción,
{pas,non} disponible à l'adoption, pas pour l'adoption, niet voor adoptie, niet voor adoptie beschikbaar, niet beschikbaar voor adoptie, não {,está }disponível para adoção, não adotáveis, non per adozione, non adottabile,
non disponibile per l'adozione, nie do adopcji, nie jest przeznaczony do adopcji, není k adopci, není k dispozici pro adopci, nie je na adopciu, недоступно для передачи, не става за осиновяване, nije za udomljavanje,
nije dostupna za udomljavanje, ni za posvojitev, ni na voljo za posvojitev, nem örökbefogadható, sahiplendirme için {,uygun }değil, ej för adoption, inte tillgänglig för adoption, ikke for adopsjon, ikke til omplassering,
ikke tilgjengelig for adopsjon, όχι για υιοθεσία, μη διαθέσιμο για υιοθεσία, 不開放認養`;

/** What is called so is not shown to anybody. */
export const hides = `
${notForAdoption}, delete, archive, resolved, closed, solved, inactivated, disabled, discarded, unlisted, do not publish, borrad{o,a}, borrado logico, eliminad{o,a}, eliminacion, archivad{o,a}, inactiv{o,a}, oculta,
anulado, exclu{ido,ida,sao}, deletad{o,a}, apagado, arquivad{o,a}, inativa, geloscht, loschdatum, archiviert, inaktiv, deaktiviert, versteckt, ausgeblendet, supprime{,e}, suppression, archivee, inactif, desactive, masque,
verwijderd, gearchiveerd, inactief, verborgen, eliminat{o,a}, cancellat{o,a}, archiviat{o,a}, inattivo, nascosto, usuniet{y,a,e}, zarchiwizowan{y,a}, nieaktywn{y,a}, ukryty, smazan{o,y,a,e}, archivovan{o,y},
neaktivn{i,y}, vymazan{y,e}, skryty, удален{,а,о}, видален{о,ий,а}, архив, в архиве, архів, в архіві, скрыт, скрыта, silindi, arsivlendi, pasif, obrisan{,a,o}, arhiviran{,o}, archiviran, torolt, torolve, archival{t,va},
sters, arhivat, inactiv, borttagen, arkiverad, slettet, poistettu, 删除, 刪除, 下架, 削除, 削除済, 삭제, 삭제됨, inattiva, neaktivan, aktif degil, неактив{ен,на,ный,ний}, ανενεργό`;

/** What is called so is shown where it is true. */
export const shows = `
active, publish{,ed}, visible, enabled, listed, {,show }online, live, displayed, display online, {show,display} on website, show on web, publicly visible, is public, on website, activo, activa, publicad{o,a}, habilitado,
vigente, mostrar en web, ativo, ativa, visivel, aktiv, veroffentlicht, sichtbar, actif, publie{,e}, actief, gepubliceerd, zichtbaar, attivo, attiva, pubblicato, visibile, aktywn{y,a}, opublikowany, widoczny, aktivn{i,y},
zverejnen{o,y}, viditelny, актив{ен,на,но,ный,ний}, активен запис, опубликован{,а,о}, опубліковано, aktif, yayinda, aktivan, objavljen{,o}, publikalt, activ, publicat, publicerad, julkaistu, ενεργ{ο,ος,η}, 上架, 已上架, 启用,
啟用, 公開, 公开, published {to,on} website, publicado en sitio web, publie vers le site internet, publicado no site, auf internetseite veroffentlicht, weboldalon kozzeteve, 已發布至網站`;

export const adoptionNouns = `
adopti{on,ons,e}, adopc{ion,ja,ji,e,ie,ia}, posvojit{ev,ve}, adocao, adozione, vermittlung{,s}, rehoming, adopsjon{,s}, усыновлени{е,я}, пристройств{о,а}, прилаштування, усиновлення, осиновяване{,то}, udomljavanj{e,a},
udomljenj{e,a}, удомљавања, удомљења, sahiplendirme, sahiplenme, evlat edinme, evlat edinilme, evlat edindirme, orokbefogadas{,i}, orokbeadas, adopti{ei,o}, υιοθεσια{,ς}, 领养, 領養, 认养, 認養, 入养, 입양, 譲渡`;

/** Where an animal is that is for adoption all the same. */
const fosters = `foster{,ed,ing}, in foster{, care}, en transito, hogar de transito, {,em }lar temporario, w domu tymczasowym, на передержке, передержка, 임시보호, {,en }acogida, acogido, casa de acogida, {,auf ,in }pflegestelle, en famille d accueil, in gastgezin, in stallo, dom tymczasowy, docasna pece, docaska,
docasna starostlivost`;
const losts = `found, lost, lost in care, missing, stray, stray {hold,wait}, perdid{o,a,os,as}, encontrad{o,a,os,as}, perdu, perdue, zaginiony, nezvestny`;

/**
 * The one table of words for a status, as `wordKey` leaves them: English, Spanish, German, French,
 * Dutch, Portuguese, Italian, Polish, Czech and Slovak, and words of others that lists were seen
 * to have. What it does not have is asked for.
 */
const words = keyed({
  available: `
{,still }available, available {now,today,offsite,itff,foster}, avail, available {for,offsite} adoption, available behavior must read, available behind the scenes, awaiting adoption, {urgent,for} adoption,
available pending photo, adoptable, adoptable now, {up,ready,open} for adoption, adoption ready, ready, ready to adopt, needs {,a }home, looking for {,a }home, seeking {,a }home, available in foster,
available in foster care, on display, open to adoption, available for adoption now, disponible{,s}, disponible ahora, {en,para} adopcion, en adopcion urgente, disponible para adoptar, disponible para adopcion,
adopcion disponible, {listo,lista,apto} para adopcion, adoptable urgente, adoptables, busca {hogar,casa,familia}, en busca de {hogar,familia}, buscando hogar, verfugbar, vermittelbar, zu vermitteln, zur vermittlung,
zur adoption, zuhause gesucht, sucht {,ein ,neues }zuhause, suchen ein zuhause, frei, noch frei, vermittlungsbereit, a l adoption, disponible a l adoption, a adopter, adoptable immediatement, en attente d adoption,
adoption possible, cherche {,une }famille, cherche un foyer, beschikbaar, beschikbaar voor adoptie, adopteerbaar, ter adoptie, zoekt {baas,thuis}, zoekt een thuis, op zoek naar een thuis, vrij, disponive{l,is},
disponivel para adocao, {,apto }para adocao, em adocao, adotavel, procura {,um }lar, aguardando adocao, disponibil{e,i}, in adozione, adottabil{e,i}, cerca casa, cerca famiglia, in cerca di casa, in cerca di famiglia,
{,gotowy ,gotowa }do adopcji, dostepn{y,a,e}, szuka{,m} domu, czeka na {dom,adopcje}, k adopci, dostupn{y,a,e,i}, volny, volna, volne, hleda {,novy }domov, k umisteni, na adopciu, k dispozicii, hlada {,novy }domov,
disponibil, ищет {,новый }дом, ищет хозяина, ищет семью, доступ{ен,на} для усыновления, шукає {дім,родину}, за осиновяване, търси дом, за удомљавање, тражи дом, por adoptar, esperando {adopcion,hogar,familia},
en espera de adopcion, pronto para adocao, da adottare, verfuegbar, a placer, poszukuje{, domu}, wolny, wolna, szabad, elérhető, gazdit vár, свобод{ен,на}, в поиске дома, ищет хозяев, доступ{ний,на}, вільн{ий,а},
išče dom, na voljo, za posvojitev, dostupan, slobodan, letar hem, söker nytt hem, ledig, vapaa, otsib kodu, saadaval, meklē mājas, pieejam{s,a}, ieško namų, tersedia, siap {adopsi,diadopsi}, belum diadopsi, sẵn sàng,
đang tìm nhà, chờ nhận nuôi, หาบ้าน, กำลังหาบ้าน, พร้อมรับเลี้ยง, זמי{ן,נה}, זמי{ן,נה} לאימוץ, לאימוץ, מחפש{,ת} בית, متاح{,ة}, متاح للتبني, للتبني, آماده {سرپرستی,واگذاری}, za udomljavanje, traži dom, sahiplendirilebilir,
sahiplendirilecek, yuva arıyor, sahiplenmeye hazır, örökbefogadható, örökbe fogadható, gazdit keres, gazdára vár, gazdikereső, looking for {,a }forever home, müsait, sahip arıyor, 待送养, 送養中, 寻找领养, 尋家中, 家族募集中, 보호중, 분양중,
sẵn sàng nhận nuôi, disponibilă, spre adopție, de adoptat, caută familie, adoptabil, till adoption, söker hem, tillgänglig, tilgjengelig, tilgængelig, søker hjem, søger hjem, etsii kotia, kotia etsimässä, saatavilla,
διαθέσιμ{ο,ος,η}, προς υιοθεσία, ψάχνει σπίτι, 待领养, 可领养, 等待领养, 未领养, 未被领养, 待認養, 可認養, 開放認養, 待領養, 可領養, 開放領養, 未領養, 未認養, 입양가능, 입양 가능, 입양대기, 募集中, 里親募集中, 譲渡可能`,
  pending: `
pending, in progress, adoption {pending,hold,trial}, {pending,trial} adoption, adoption in progress, adoption in process, in process, pending adoption pickup, reserved, reservation, application pending,
pending application, on hold, on hold for adopter, hold adopted, adopt hold, trial, on trial, under offer, foster to adopt, foster to adopt in progress, meet and greet, m g, reserva{,do,da,dos,das}, pendiente,
pendiente de adopcion, adopcion pendiente, en proceso, {,en }proceso de adopcion, en tramite, en tramite de adopcion, en espera, en lista de espera, pre adoptad{o,a}, preadoptad{o,a}, apartad{o,a}, reserviert, vorgemerkt,
in vermittlung, reserve{,e,s,es}, en cours d adoption, en cours, adoption en {cours,attente}, gereserveerd, {in,onder} optie, {,adocao }pendente, reservado para adocao, em processo, em processo de adocao, riservat{o,a},
prenotat{o,a}, in corso di adozione, adozione in corso, zarezerwowan{y,a,e}, rezerwacja, w trakcie, w trakcie adopcji, adopcja w toku, rezervovan{y,a,e,o}, rezervac{e,ia}, zamluven{y,a,o}, v jednani, забронирован{,а},
зарезервирован{,а,о}, резервиран{,а,о}, rezervisano, rezerve edil{miş,di}, 已預約保留, бронь, в резерве, заброньован{ий,а}, rezerviran{,a}, rezerv{e,at,ată}, {,le}foglalt, lefoglalva, előjegyezve, în curs de adopție,
reserver{ad,at,et,t}, bokad, varattu, κρατημένο, σε αναμονή, 已预定, 预定, 已預定, 預定, 已預約, 預約中, 領養中, 予約, 予約中, 予約済, bokat, tingad, 领养中, 领养审核中, 審核中, 审核中, 입양예정, 예약중, 예약, トライアル中, 商談中, 譲渡予定, placement en cours, sous option,
beklemede, зарезервовано, broneeritud, rezervēt{s,a}, rezervuot{as,a}, dipesan, proses adopsi, dalam proses, đang xử lý, đã đặt trước, จองแล้ว, שמור{,ה}, בתהליך אימוץ, محجوز{,ة}`,
  sold: `
sold, adopted, adopted {offsite,altered}, adopted unaltered, healthy in home, adoption finali{zed,sed}, adoption complete{,d}, rehomed, homed, placed, found {,a }home, found forever home, in new home, happy tail{,s},
adoptad{o,a,os,as}, vendid{o,a}, ya adoptad{o,a}, vermittelt, bereits vermittelt, adoptiert, verkauft, hat ein zuhause, zuhause gefunden, hat ein zuhause gefunden, adopte{,e,s,es}, vendu, vendue, place, placee,
geadopteerd, verkocht, geplaatst, herplaatst, adotad{o,a,os,as}, adottat{o,a,i,e}, {,za,wy}adoptowany, {,za,wy}adoptowana, {,za}adoptowane, w nowym domu, znalazl{,a} dom, adoptovan{y,a,e,o}, umisten{,y,a,o}, osvojen{y,a},
v novem domove, nasel domov, nasla domov, nasiel domov, пристроен{,а,ы}, усыновлен{,а}, нашел дом, нашла дом, обрел{,а} дом, прилаштован{ий,а,о}, усиновлений, знайшов дім, знайшла дім, осиновен{,а,о}, udomljen{,a,o},
sahiplendirildi, sahiplenildi, sahiplendi, yuvalandı, yuva buldu, örökbefogad{va,ott}, örökbe fogad{va,ott}, gazdára {talált,lelt}, gazdis, adoptált, удомљен{,а,о}, evlat edinildi, evlat edindirildi, adopta{t,tă,ți},
adopter{ad,at,et,t}, omplacerad, omplassert, adoptoitu, löysi kodin, υιοθετήθηκε, υιοθετημένο{,ς}, 已领养, 被领养, 已被领养, 已送养, 已認養, 已領養, 被領養, 已被領養, 已送養, 입양완료, 입양 완료, 입양됨, 종료 입양, 譲渡済, 譲渡済み, 里親決定, adopteeritud, leidis kodu,
adoptēt{s,a}, rado namus, diadopsi, {sudah,telah} diadopsi, đã nhận nuôi, đã được nhận nuôi, มีบ้านแล้ว, ได้บ้านแล้ว, รับเลี้ยงแล้ว, אומצ{ה,ו}, אומץ, تم التبني, واگذار شده`,
  gone: `
${deaths}, ${departures}, ${notForAdoption}, ${fosters}, ${losts}, humanely euthanized, euth req, euthanasia request, requested euthanasia, unassisted death, died at vet, died at facility, dispo{,sal,sed}, dispo req,
disposal request, cremated, transfer{,red} to rescue, transfer to rescue group, rescue {group,only}, rescue{,d}, sent to rescue, relocate{d,}, return to owner guardian, returned to guardian, with owner, rto adopt,
redemption, owner reclaim{,ed}, returned, not yet available, temporarily unavailable, not ready, awaiting {triage,photo}, awaiting {intake,medical} exam, awaiting spay neuter, awaiting behavior evaluation,
awaiting transfer, medical observation, unassigned, pending foster pickup, hold, rabies hold, owner hold, hold for owner, police hold, 10 day hold, pending {intake,vetting,surgery}, medical hold, on hold medical,
behavior{,al} hold, legal hold, court hold, bite hold, {,bite ,rabies }quarantine, quarantined, cruelty case, evaluat{e,ion}, {in ,under ,}treatment, wildlife, permanent resident, hospice, sanctuary, boarding,
shelter neuter return, snr, tnr, rtf, return{,ed} to field, return to wild, released to wild, fallecidos, devuelt{o,a}, devuelto a su dueno, reclamada, {,en }cuarentena, en tratamiento, en recuperacion,
en proceso de recuperacion, en espera de cirugia, retirad{o,a}, zuruck an besitzer, an besitzer zuruck, abgegeben, abgeholt, {,in }quarantane, rendu{,e} au proprietaire, rendu{,e} a son proprietaire,
{non,pas} disponible, non adoptable, quarantaine, en soins, terug naar eigenaar, niet ter adoptie, ontsnapt, in quarantaine, devolvid{o,a}, devolvido ao dono, nao disponivel, quarentena, {em ,}tratamento,
{em ,}observacao, inadotavel, deceduti, restituit{o,a}, quarantena, kwarantanna, w kwarantannie, niedostepna, w trakcie leczenia, w leczeniu, odebrany przez wlasciciela, {oddany,wydany} wlascicielowi, przekazana,
utracen{,a}, karantena, v karantene, nedostupna, vracen{,a} majiteli, v leceni, uhynut{y,a}, vrateny majitelovi, v liecbe, на лечении, на карантине, карантин, пропал{,а}, загину{в,ла}, на лікуванні, na liječenju,
vefat etti, tedavide, karantinada, kayıp, kezelés alatt, karanténban, în tratament, în carantină, indisponibilă, under behandling, lopetettu, menehtynyt, μη διαθέσιμο, νεκρό, 已离世, 已去世, 已故, 失踪, 治疗中, 隔离中, 暂不领养, 不可领养, 不可領養,
暫不領養, 종료 반환, 종료 자연사, 종료 안락사, 종료 방사, 종료 기증, 자연사, 返還, 返還済, 返還済み, 公開停止中, 募集終了, ravil, meninggal, đã mất, เสียชีวิต, נפטר{,ה}, متوفى`,
  none: "none",
});

/** All words of a meaning, as a list; `place` is `placé` as a status, and a place as a heading. */
export const wordsOf = (meaning: Meaning): string =>
  [...words.keys()].filter((word) => words.get(word) === meaning && word !== "place").join();

/** How an animal left: known in the columns that tell it, and asked for elsewhere. */
export const outcomeWords = keyed({
  sold: `${adoptionNouns}, adopt, {barn,offsite} adoption`,
  gone: `rtos, vet, escaped stolen, appt, shelter, closed, {found,lost} {exp,anim,report}, spay, neuter, other, treatment, community cat, homefirst, return to rescue, transport,
return to wild habitat, duplicate, trap neuter {release,return}`,
});

/** Words that say where an available animal is or came from, and not that it is gone. */
export const besides = setOf(`${fosters}
stray, found, encontrad{o,a}, rescue{,d}, transfer, returned, devuelt{o,a}, devolvid{o,a}, abgegeben, unassigned, adoption, adopt, adopcion, adocao`);

/** Found, lost, stray, foster: any other record of the animal tells more of it. */
export const passing = setOf(`${fosters}, ${losts}, {found,lost} {exp,anim,report}`);

/** Whether something is shown, in a column that tells just that. */
export const shownWords = setOf(`${shows}, public, open, on`);
export const hiddenWords = setOf(`${hides}
unpublished, draft, borrador, taslak, private, closed, off, offline, 禁用, 停用, 非公開`);

/** Who is alive, or was not adopted: words that take nothing of an animal. */
const nothings = setOf(`
alive, living, lives, vivo, viva, lebt, lebend, vivant{,e}, levend, żyje, żyjący, žije, živý, živá, nobody, nadie, niemand, personne, ningun{o,a}, nenhum, kein{,er,e}, aucun, aucune, nessuno, geen, brak, žádný, žiadny,
nikdo, nikt, not applicable, no aplica, sahiplenilmedi, sahiplendirilmedi, evlat edinilmedi, {on,in,at} shelter, {,still }in care`);
/** What is not, or not yet: `Not adopted`, `Sin reservar`, `Nicht vermittelt`. */
const nots = listed(`
not, not yet, non, no, never, un, nicht, noch nicht, nie, ne, não, ainda não, aún no, todavía no, pas, pas encore, niet, nog niet, sin, sem, jeszcze nie, ještě ne, nije, nisu, nem, inte, ikke, ei, nu este, не, ще не`);
const beginnings = listed(`
adopt, adot, {,ge}reserv, rezer, zarez, vermit, geadopt, udomlj, örökbe, gazdis, foglalt, усыновл, усиновл, осинов, пристро, прилашт, удомљ`);
const negatedWord = new RegExp(
  `^(?:${nots.join("|")}) ?(?:(?:${beginnings.join("|")})\\p{L}*|dead|deceased|deleted|archived|hidden|returned|left|transferred)$`,
  "u",
);

/** True for a word, as `wordKey` leaves it, that takes nothing of an animal. */
export const saysNothing = (key: string): boolean => nothings.has(key) || negatedWord.test(key);

/** What may stand behind a word that says that it is there, beside numbers of kennels and days. */
const harmless = setOf(`
now, today, immediately, at, in, the, and, kennel{,s}, cage, room, run, shelter, offsite, onsite, pair, bonded, together, care, home, foster, ahora, ya, hoy, inmediatamente, jaula, canil, perrera, refugio, pareja, en, el,
casa, de, acogida, adopcion, jetzt, sofort, ab, zwinger, zimmer, paar, auf, im, tierheim, pflegestelle, maintenant, immediatement, box, couple, au, famille, d, accueil, nu, direct, hok, koppel, het, asiel, gastgezin,
agora, ja, casal, abrigo`);

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
    return new Statuses(new Map([...words, ...this.#own]), this.whenMissing);
  }

  /** True for a value that an option or the list of words tells, and no stem. */
  knows(value: unknown): boolean {
    return (this.understood(value)?.by ?? "stem") !== "stem";
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
    const found = [...this.#read].filter(([, read]) => read?.by === "stem");
    return new Map(found.map(([word]) => [word, dead.meaning]));
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
  String.raw`\d{1,2}(?:\.|st|nd|rd|th)?[\s-]+(?:de\s+)?(?<month>\p{L}{3,10})\.?(?:,?[\s-]+(?:de\s+)?\d{2,4})?`,
  String.raw`(?<month>\p{L}{3,10})\.?\s+\d{1,2}(?:st|nd|rd|th)?(?:,?\s+\d{4})?`,
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
  const { word = trimmed, month } = dateBehind.exec(trimmed)?.groups ?? {};
  return month === undefined || monthOf(month) !== undefined ? word : trimmed;
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
  if (rest === "" || rest === "none" || besides.has(rest)) return itself;
  const isOpen = meaning === "available";
  const other = isOpen && negated.test(rest) ? "gone" : words.get(rest);
  if (other === undefined && saysDead(rest)) return dead;
  if (other !== undefined) {
    const isTaken = isOpen || (meaning === "pending" && other === "gone") || saysDead(rest);
    return isTaken ? { ...itself, meaning: other } : itself;
  }
  const isHarmless = (word: string) => /^\d+$/.test(word) || harmless.has(word);
  return !isOpen || rest.split(" ").every(isHarmless) ? itself : undefined;
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

const flags = (list: string): ReadonlySet<string> => new Set(fold(list).split(/\s/));
const yeses =
  flags(`y yes t true x 1 ✓ ✔ si s ja j oui o vrai sim verdadero wahr tak ano да так da evet igen
kylla ναι var van 是 已 有 예 네 はい あり ○ 〇 ◯`);
const noes =
  flags(`n no f false 0 nein non faux nee nao falso falsch nie ne - нет ні не hayir nem nej nei ei nu οχι
yok nincs 否 未 无 無 没有 沒有 아니오 아니요 いいえ なし ×`);
/** A value as a flag may be written: by people, or by the tools that pass files on. */
const flagOf = (value: unknown): string =>
  typeof value === "string" ? fold(value.trim().replace(/^([01])\.0+$/, "$1")) : wordOf(value);

export const isYes = (value: unknown): boolean => yeses.has(flagOf(value));
export const isNo = (value: unknown): boolean => noes.has(flagOf(value));

/** What stands where there is no id. */
const placeholder =
  /^(?:#?n\/?a|#(?:name|null|num|ref|value)[?!]?|#div\/0!|null|nil|none|nan|undefined|unknown|tbd|0+|[-\u2013?.]+)$/i;

export const isPlaceholderId = (id: string): boolean => placeholder.test(id.trim());
