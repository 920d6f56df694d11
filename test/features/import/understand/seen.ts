/**
 * Headings and words of public lists and of the programs that make them, each with the repository
 * that it was seen in: what says that an animal is not for adoption, and what only looks so. A
 * plain word was seen in none.
 */
export type Kind =
  | "died"
  | "left"
  | "transferred"
  | "adopted"
  | "adopter"
  | "reserved"
  | "deleted"
  | "inactive"
  | "outcome"
  | "outcome date";

/** A heading, values of it that say so, or that say nothing, and where it was seen. */
export type Seen = readonly [
  heading: string,
  values: readonly (string | number | boolean)[],
  seenIn: string,
];

const past = ["2024-03-14", "14/03/2024", "2024-03-14T10:00:00Z"];

/** What makes an animal unavailable that its status calls available. */
export const nos: Readonly<Record<Kind, readonly Seen[]>> = {
  died: [
    ["deceased", ["2024-03-14 00:00:00", "Yes"], "ninetwentyfour/Hospitium"],
    ["DECEASEDDATE", past, "sheltermanager/asm3"],
    ["data_obito", past, "isaacsantanadevr/tarefas-ebac-Isaac-Santana"],
    ["passAwayDate", past, "BrezoLarsen/animalShelter"],
    ["dead", [true, "true", 1], "LFwBH/AnimalShelterBackend"],
    ["Falecido", ["Sim", "sim", "x"], "an issue of this repository"],
    ["date_deces", past, "an issue of this repository"],
    ["Verstorben am", ["14.03.2024"], "an issue of this repository"],
    ["health_status", ["deceased"], "a Directus collection of pets"],
    ["Data zgonu", ["14.03.2024"], "an issue of this repository"],
    ["Datum úmrtí", ["14.3.2024"], "an issue of this repository"],
    ["死亡日期", past, "the plain word in Chinese"],
    ["дата смерти", past, "the plain word in Russian"],
    ["Ölüm tarihi", past, "the plain word in Turkish"],
    ["사망일", past, "the plain word in Korean"],
  ],
  left: [
    ["shelterExitDate", past, "graphometrica/leaders2020_backend"],
    ["DateAdoptedRedeemed", ["3/22/2019 1:00:00 PM"], "baltimorecounty/react-animal-services-pets"],
    ["Exit date", past, "an issue of this repository"],
    ["Date Left", past, "an issue of this repository"],
    ["date_sortie", past, "Philippe-CORTEZ/Animalia"],
    ["fecha_salida", past, "an issue of this repository"],
    ["Abgangsdatum", ["14.03.2024"], "an issue of this repository"],
    ["returned_to_owner", [true, "yes"], "a list of AnimalStatus in TypeScript"],
  ],
  transferred: [
    ["Transferred", ["Yes", "2024-03-14"], "an issue of this repository"],
    ["transfer_date", past, "an issue of this repository"],
    ["Trasferito", ["sì"], "an issue of this repository"],
  ],
  adopted: [
    ["adopted", [true, "true", 1, "1"], "Amigos-con-Cola/AmigosConColaApi"],
    ["istAdoptiert", [true, "ja"], "HeiligeMeier/dezentralesTierheim"],
    ["IsAdopted", [true], "williamcb99/AnimalAdoption"],
    ["adopt_date", past, "kkuczynski/JavaAngularDB"],
    ["fechaAdopcion", past, "com.happyfeet.model.entities"],
    ["isAdopted", [true, "Yes"], "096benjaminbenoit/pawwws"],
    ["adoptionDate", past, "096benjaminbenoit/pawwws"],
    ["adopted_date", past, "ninetwentyfour/Hospitium"],
    ["data_adocao", past, "isaacsantanadevr/tarefas-ebac-Isaac-Santana"],
    ["adoptada", [true, "sí", "Sí"], "Uniandes-ISIS2603-backup/s4_Mascotas_Front_201910"],
    ["adoptado", [true, "SI", "X"], "agusfennema/adopta-un-amigo-main"],
    ["adotado", [true, "sim"], "ilidio83/Sistema_Ado-ao"],
    ["DatumAdopce", ["10/09/2025", "10.09.2025"], "kalamakadanca/Utulek"],
    ["Datum adopce", ["10. 9. 2025", "2025-09-10"], "a Django model of ArchivZvire"],
    ["Data adopcji", past, "an Express controller of schronisko.zwierzeta_info"],
    ["Date d'adoption", past, "a Symfony form of date_adoption"],
    ["fecha_adopcion", past, "a Laravel model of Adopcion"],
    ["date_adopted", past, "an issue of this repository"],
    ["Vermittelt", ["ja", "14.03.2024"], "an issue of this repository"],
    ["Geadopteerd", ["ja"], "an issue of this repository"],
    ["Adottato", ["si", "sì"], "an issue of this repository"],
    ["anno_adozione", ["2023", 2023], "cortemaxim-ux/adozioni-maya"],
    ["ADOPTION_YEAR", ["2017"], "courtneyburch/Ohio-Alleycat"],
    ["Дата усыновления", past, "the plain word in Russian"],
    ["пристроен", ["да", true], "the plain word in Russian"],
    ["领养日期", past, "the plain word in Chinese"],
    ["是否被领养", ["是", 1], "the plain word in Chinese"],
    ["已领养", ["是", true], "the plain word in Chinese"],
    ["입양일", past, "the plain word in Korean"],
    ["입양여부", ["입양완료"], "the plain word in Korean"],
    ["Sahiplendirme tarihi", past, "the plain word in Turkish"],
    ["sahiplendirildi mi", ["evet"], "the plain word in Turkish"],
    ["Örökbefogadás dátuma", past, "the plain word in Hungarian"],
    ["örökbefogadott", ["igen"], "the plain word in Hungarian"],
    ["Adopterad", ["ja"], "the plain word in Swedish"],
    ["Data adopției", past, "the plain word in Romanian"],
    ["datum udomljavanja", past, "the plain word in Croatian"],
    ["Дата на осиновяване", past, "the plain word in Bulgarian"],
  ],
  adopter: [
    ["adopter_name", ["Ana Smith"], "public.adoptionhistory of a rescue's SQL"],
    ["duenoAdoptanteId", [7, "7"], "com.happyfeet.model.entities"],
    ["adopter_id", [7, "7"], "pet_book.sql"],
    ["adoptiveFamilyId", [7, "7"], "096benjaminbenoit/pawwws"],
    ["adotanteId", ["a7"], "an interface of Animal in TypeScript"],
    ["adoptante_nombre", ["Ana Pérez"], "a Laravel model of Adopcion"],
    ["dono", ["Melissa Vitória"], "Cecimedeiros/Sistema-de-Gerenciamento-de-Animais"],
    ["Adoptant", ["Mme Petit"], "an issue of this repository"],
    ["adoptantName", ["Mme Petit"], "a contract of adoption in TypeScript"],
    ["Jmeno_osvojitele", [], "a view Seznam_adopci in SQL"],
    ["nr_adoptujacego", [], "a Java class Zwierze"],
    ["领养人", ["张伟"], "the plain word in Chinese"],
    ["Sahiplenen kişi", ["Ayşe Yılmaz"], "the plain word in Turkish"],
    ["örökbefogadó neve", ["Kovács Éva"], "the plain word in Hungarian"],
    ["Новый хозяин", ["Иван"], "the plain word in Russian"],
    ["입양자", ["김민수"], "the plain word in Korean"],
  ],
  reserved: [
    ["reserved", [true, "yes", "2024-03-14", "Mrs Smith"], "NoudH/DierenAsiel"],
    ["isAdoptionPending", ["Yes", true], "RescueGroups API v5"],
    ["Pending", ["true"], "an issue of this repository"],
    ["Reserved for", ["Ana Smith"], "an issue of this repository"],
    ["reservado", ["sí"], "an issue of this repository"],
    ["reserviert", ["ja"], "an issue of this repository"],
    ["Zarezerwowany", ["tak"], "an issue of this repository"],
    ["Rezervace", ["ano"], "an issue of this repository"],
    ["foglalt", ["igen"], "the plain word in Hungarian"],
    ["Бронь", ["да"], "the plain word in Russian"],
    ["예약", ["예"], "the plain word in Korean"],
  ],
  deleted: [
    ["deleted_at", past, "quanterall/smartcitydogs"],
    ["fecha_eliminado", past, "artmadeit/mascotasdse2023-2"],
    ["eliminado", [true, "1"], "artmadeit/mascotasdse2023-2"],
    ["fecha_eliminacion", past, "com.example.mascotas.model"],
    ["removed_at", past, "com.hong.forapw.domain.animal"],
    ["archived", [true, "true", 1], "LFwBH/AnimalShelterBackend"],
    ["archiveDate", past, "LFwBH/AnimalShelterBackend"],
    ["fechaBorrado", past, "an issue of this repository"],
    ["isDeleted", [true, "1"], "an issue of this repository"],
    ["Gelöscht", ["ja"], "an issue of this repository"],
  ],
  inactive: [
    ["active", [false, "false", "0"], "ValentinLGonzalez/tp_veterinaria_Progra1"],
    ["is_active", [false, "False"], "an Abrigo's accounts in Django"],
    ["Activo", ["No", "NO"], "an issue of this repository"],
    ["activa", [false, "no"], "a Java entity of mascotas"],
    ["ativo", [false, "não", "Na\u0303o"], "br.com.mpet.model"],
    ["published", [false, "false"], "an interface of Animal with protectressName"],
    ["visible", [false, "no"], "artemo24/DyrBok"],
    ["adoptable", [false, "f"], "cifarquhar/animal_shelter"],
    ["available", [false, "false"], "claramauro/Pet-Foster-Connect-back"],
    ["disponible", [false, "no"], "SebaMarotta/ohmydog"],
    ["in_adopcion", [false, "no"], "marcosdgi/pet-guard"],
    ["disponible_adopcion", [false], "a MascotaEntity in TypeScript"],
    ["disponivel", [false, "não"], "a Prisma schema of Animal"],
    ["Disponibilidade", ["Não", "Adotado"], "eugenia-m-m/PROJETO-I-POO"],
    ["可领养", ["否", false], "the plain word in Chinese"],
    ["активен", ["нет"], "the plain word in Russian"],
    ["örökbefogadható", ["nem"], "the plain word in Hungarian"],
  ],
  outcome: [
    [
      "OutcomeType",
      ["Adoption", "Transfer", "Euthanasia", "Return_to_owner", "Died"],
      "ShubhankarGoje/DCSC-homeworks",
    ],
    ["outcome_type", ["Adoption", "Transfer"], "alexyarosh/csci5352-f23"],
    ["Disposition", ["TRANSFER", "DISPOSAL"], "an issue of this repository"],
  ],
  "outcome date": [
    ["outcome_date", past, "the cities in test/fixtures"],
    ["OutcomeDate", ["3/14/2024", ...past.slice(0, 1)], "the cities in test/fixtures"],
  ],
};

/** What takes nothing of an animal that is available, beside its status. */
export const yeses: readonly Seen[] = [
  ["adopted", [false, "false", 0, "0", "No", "no", "N", ""], "Amigos-con-Cola/AmigosConColaApi"],
  ["adoptado", ["no", "NO", "No adoptado", "-"], "agusfennema/adopta-un-amigo-main"],
  ["adopter_id", ["NULL", "", "0", 0], "pet_book.sql"],
  ["adoptionFee", [150, "150", "$150"], "an animalSchema with zod"],
  ["Adoption fee", ["150 EUR"], "an animalSchema with zod"],
  ["adoptable", [1, "1", "t", true], "cifarquhar/animal_shelter"],
  ["available", [true, "true", "Yes"], "claramauro/Pet-Foster-Connect-back"],
  ["archived", [false, "false", "0"], "LFwBH/AnimalShelterBackend"],
  ["deleted_at", ["NULL", "", "0000-00-00 00:00:00"], "quanterall/smartcitydogs"],
  ["DECEASEDDATE", ["", "1899-12-30", "0000-00-00"], "sheltermanager/asm3"],
  ["animal_closeddate", ["2999-12-31"], "data.moa.gov.tw"],
  ["adoptionDate", ["2999-12-31", "1900-01-01", ""], "096benjaminbenoit/pawwws"],
  ["deceased_reason", ["old age of the mother"], "ninetwentyfour/Hospitium"],
  ["PTSREASON", ["Sick/Injured"], "sheltermanager/asm3"],
  ["razonAdopcion", ["El dueño murió"], "Uniandes-ISIS2603-backup/s4_Mascotas_Front_201910"],
  ["isAcogido", [true, "sí"], "jumelleCL/asociacion-jodar"],
  ["isHosted", ["true"], "096benjaminbenoit/pawwws"],
  ["hostFamilyId", [3, "3"], "096benjaminbenoit/pawwws"],
  ["current_foster_user_id", [3], "public.animals of a rescue's SQL"],
  ["cameFrom", ["owner died"], "LFwBH/AnimalShelterBackend"],
  ["Transferred from", ["Another shelter"], "an issue of this repository"],
  ["Last outcome", ["Adoption"], "an issue of this repository"],
  ["Previous status", ["Adopted"], "an issue of this repository"],
  ["nome_recebedor", ["Guilherme"], "isaacsantanadevr/tarefas-ebac-Isaac-Santana"],
  ["owner", ["Council"], "cifarquhar/animal_shelter"],
  ["lastOwner", ["Smith"], "an interface of Animal with lookingForHome"],
  ["veces_adoptado", [2, "2"], "an interface of Mascota in TypeScript"],
  ["requisito_adopcion", ["Casa con jardín"], "an interface of Mascota in TypeScript"],
  ["deathReasonId", [3, "3"], "graphometrica/leaders2020_backend"],
  ["admissionDate", past, "graphometrica/leaders2020_backend"],
  ["tmp_adopt_for_days", [14], "kkuczynski/JavaAngularDB"],
  ["date_of_intake", past, "ninetwentyfour/Hospitium"],
  ["data_entrada", past, "isaacsantanadevr/tarefas-ebac-Isaac-Santana"],
  ["condition", ["Normal"], "the cities in test/fixtures"],
  ["health_status", ["healthy"], "a Directus collection of pets"],
  ["published", [true, "true", "2024-03-14"], "an interface of Animal with protectressName"],
  ["published_at", past, "si-huynh/petsave"],
  ["is_active", [true, "True", "1"], "an Abrigo's accounts in Django"],
  ["isAdoptionPending", ["No", false], "RescueGroups API v5"],
  ["ZIP", ["90210"], "the cities in test/fixtures"],
  ["chip_date", past, "an issue of this repository"],
  ["Returned", past, "an issue of this repository"],
  ["Disponibilidade", ["Sim", "Disponível"], "eugenia-m-m/PROJETO-I-POO"],
  ["days_left", [3], "an issue of this repository"],
  ["birth_year", [2016, "2016"], "sevacezar/priyut_luchshiy_drug"],
  ["пристроен", ["нет", false, ""], "the plain word in Russian"],
  ["已领养", ["否", false], "the plain word in Chinese"],
  ["可领养", ["是", true], "the plain word in Chinese"],
  ["sahiplendirildi mi", ["hayır"], "the plain word in Turkish"],
  ["örökbefogadott", ["nem"], "the plain word in Hungarian"],
  ["입양여부", ["아니오"], "the plain word in Korean"],
  ["Adopterad", ["nej"], "the plain word in Swedish"],
  ["Дата поступления", past, "the plain word in Russian"],
  ["入所日期", past, "the plain word in Chinese"],
  ["领养费用", ["200"], "the plain word in Chinese"],
];

/** Headings that have such a word in them, and say nothing whatever they have. */
export const others =
  `Last outcome|Previous status|Prior outcome|Former owner|Intake reason|Reason for adoption|Adoption price|Adoption counselor
|Adoption contact|Adoption center|Adoption location|Adoption notes|Adoption requirements|Adoption email|Adoption link|Foster name
|Fostered by|In foster|Foster start date|Transferred from|Source|Zip|Date of birth|Microchip date|Return reason|Length of stay
|Vaccination status|Spay status|Good with kids|Hold reason|Hold notes|Medical status|Behavior status|Payment status|Owner status
|Release form|Death risk|Euthanasia risk|Deadline|Left ear|Activity level|Live release|Show dog|Display name|Published by
|Deleted by|Reserved parking|Place found|Placement notes|Exit interview|Outcome notes|Sex upon outcome|Times returned
|Adopted siblings|Adopted from|Adoption count|Adoption events|Country|Mother died|Owner deceased`.split(
    /\n?\|/,
  );

/** Several columns at once of one who is there. */
export const yesRows: readonly {
  readonly row: Readonly<Record<string, string>>;
  readonly in: string;
  readonly besideStatus?: true;
}[] = [
  {
    row: { "Adoption Date": "2024-01-05", Adopter: "Smith", "Return Date": "2024-02-01" },
    in: "public.adoptionhistory of a rescue's SQL",
  },
  {
    row: { "Outcome Date": "2023-01-05", "Intake Date": "2024-02-01", "Outcome Type": "" },
    in: "the cities in test/fixtures",
  },
  {
    row: { "Outcome Date": "2023-01-05", "Intake Date": "2024-02-01", "Outcome Type": "Adoption" },
    in: "the cities in test/fixtures",
    // Alone, an outcome is what is known of the animal.
    besideStatus: true,
  },
  {
    row: { ADOPTIONDATE: "6/26/20", ADOPTION_YEAR: "2020", RETURNDATE: "8/22/21" },
    in: "courtneyburch/Ohio-Alleycat",
  },
  {
    row: { adopted: "false", reserved: "no", deleted: "0" },
    in: "Amigos-con-Cola/AmigosConColaApi",
  },
];
