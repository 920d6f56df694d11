/**
 * Headings and words of public lists and of the programs that make them, each with the repository
 * that it was seen in: what says that an animal is not for adoption, and what only looks so.
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

export interface Seen {
  readonly heading: string;
  /** Values of it that say so, or that say nothing. */
  readonly values: readonly (string | number | boolean)[];
  readonly in: string;
}

const past = ["2024-03-14", "14/03/2024", "2024-03-14T10:00:00Z"];

/** What makes an animal unavailable that its status calls available. */
export const nos: Readonly<Record<Kind, readonly Seen[]>> = {
  died: [
    { heading: "deceased", values: ["2024-03-14 00:00:00", "Yes"], in: "ninetwentyfour/Hospitium" },
    { heading: "DECEASEDDATE", values: past, in: "sheltermanager/asm3" },
    { heading: "data_obito", values: past, in: "isaacsantanadevr/tarefas-ebac-Isaac-Santana" },
    { heading: "passAwayDate", values: past, in: "BrezoLarsen/animalShelter" },
    { heading: "dead", values: [true, "true", 1], in: "LFwBH/AnimalShelterBackend" },
    { heading: "Falecido", values: ["Sim", "sim", "x"], in: "an issue of this repository" },
    { heading: "date_deces", values: past, in: "an issue of this repository" },
    { heading: "Verstorben am", values: ["14.03.2024"], in: "an issue of this repository" },
    { heading: "health_status", values: ["deceased"], in: "a Directus collection of pets" },
    { heading: "Data zgonu", values: ["14.03.2024"], in: "an issue of this repository" },
    { heading: "Datum úmrtí", values: ["14.3.2024"], in: "an issue of this repository" },
  ],
  left: [
    { heading: "shelterExitDate", values: past, in: "graphometrica/leaders2020_backend" },
    {
      heading: "DateAdoptedRedeemed",
      values: ["3/22/2019 1:00:00 PM"],
      in: "baltimorecounty/react-animal-services-pets",
    },
    { heading: "Exit date", values: past, in: "an issue of this repository" },
    { heading: "Date Left", values: past, in: "an issue of this repository" },
    { heading: "date_sortie", values: past, in: "Philippe-CORTEZ/Animalia" },
    { heading: "fecha_salida", values: past, in: "an issue of this repository" },
    { heading: "Abgangsdatum", values: ["14.03.2024"], in: "an issue of this repository" },
    {
      heading: "returned_to_owner",
      values: [true, "yes"],
      in: "a list of AnimalStatus in TypeScript",
    },
  ],
  transferred: [
    { heading: "Transferred", values: ["Yes", "2024-03-14"], in: "an issue of this repository" },
    { heading: "transfer_date", values: past, in: "an issue of this repository" },
    { heading: "Trasferito", values: ["sì"], in: "an issue of this repository" },
  ],
  adopted: [
    { heading: "adopted", values: [true, "true", 1, "1"], in: "Amigos-con-Cola/AmigosConColaApi" },
    { heading: "istAdoptiert", values: [true, "ja"], in: "HeiligeMeier/dezentralesTierheim" },
    { heading: "IsAdopted", values: [true], in: "williamcb99/AnimalAdoption" },
    { heading: "adopt_date", values: past, in: "kkuczynski/JavaAngularDB" },
    { heading: "fechaAdopcion", values: past, in: "com.happyfeet.model.entities" },
    { heading: "isAdopted", values: [true, "Yes"], in: "096benjaminbenoit/pawwws" },
    { heading: "adoptionDate", values: past, in: "096benjaminbenoit/pawwws" },
    { heading: "adopted_date", values: past, in: "ninetwentyfour/Hospitium" },
    { heading: "data_adocao", values: past, in: "isaacsantanadevr/tarefas-ebac-Isaac-Santana" },
    {
      heading: "adoptada",
      values: [true, "sí", "Sí"],
      in: "Uniandes-ISIS2603-backup/s4_Mascotas_Front_201910",
    },
    { heading: "adoptado", values: [true, "SI", "X"], in: "agusfennema/adopta-un-amigo-main" },
    { heading: "adotado", values: [true, "sim"], in: "ilidio83/Sistema_Ado-ao" },
    { heading: "DatumAdopce", values: ["10/09/2025", "10.09.2025"], in: "kalamakadanca/Utulek" },
    {
      heading: "Datum adopce",
      values: ["10. 9. 2025", "2025-09-10"],
      in: "a Django model of ArchivZvire",
    },
    {
      heading: "Data adopcji",
      values: past,
      in: "an Express controller of schronisko.zwierzeta_info",
    },
    { heading: "Date d'adoption", values: past, in: "a Symfony form of date_adoption" },
    { heading: "fecha_adopcion", values: past, in: "a Laravel model of Adopcion" },
    { heading: "date_adopted", values: past, in: "an issue of this repository" },
    { heading: "Vermittelt", values: ["ja", "14.03.2024"], in: "an issue of this repository" },
    { heading: "Geadopteerd", values: ["ja"], in: "an issue of this repository" },
    { heading: "Adottato", values: ["si", "sì"], in: "an issue of this repository" },
    { heading: "anno_adozione", values: ["2023", 2023], in: "cortemaxim-ux/adozioni-maya" },
    { heading: "ADOPTION_YEAR", values: ["2017"], in: "courtneyburch/Ohio-Alleycat" },
  ],
  adopter: [
    {
      heading: "adopter_name",
      values: ["Ana Smith"],
      in: "public.adoptionhistory of a rescue's SQL",
    },
    { heading: "duenoAdoptanteId", values: [7, "7"], in: "com.happyfeet.model.entities" },
    { heading: "adopter_id", values: [7, "7"], in: "pet_book.sql" },
    { heading: "adoptiveFamilyId", values: [7, "7"], in: "096benjaminbenoit/pawwws" },
    { heading: "adotanteId", values: ["a7"], in: "an interface of Animal in TypeScript" },
    { heading: "adoptante_nombre", values: ["Ana Pérez"], in: "a Laravel model of Adopcion" },
    {
      heading: "dono",
      values: ["Melissa Vitória"],
      in: "Cecimedeiros/Sistema-de-Gerenciamento-de-Animais",
    },
    { heading: "Adoptant", values: ["Mme Petit"], in: "an issue of this repository" },
    { heading: "adoptantName", values: ["Mme Petit"], in: "a contract of adoption in TypeScript" },
    { heading: "Jmeno_osvojitele", values: [], in: "a view Seznam_adopci in SQL" },
    { heading: "nr_adoptujacego", values: [], in: "a Java class Zwierze" },
  ],
  reserved: [
    {
      heading: "reserved",
      values: [true, "yes", "2024-03-14", "Mrs Smith"],
      in: "NoudH/DierenAsiel",
    },
    { heading: "isAdoptionPending", values: ["Yes", true], in: "RescueGroups API v5" },
    { heading: "Pending", values: ["true"], in: "an issue of this repository" },
    { heading: "Reserved for", values: ["Ana Smith"], in: "an issue of this repository" },
    { heading: "reservado", values: ["sí"], in: "an issue of this repository" },
    { heading: "reserviert", values: ["ja"], in: "an issue of this repository" },
    { heading: "Zarezerwowany", values: ["tak"], in: "an issue of this repository" },
    { heading: "Rezervace", values: ["ano"], in: "an issue of this repository" },
  ],
  deleted: [
    { heading: "deleted_at", values: past, in: "quanterall/smartcitydogs" },
    { heading: "fecha_eliminado", values: past, in: "artmadeit/mascotasdse2023-2" },
    { heading: "eliminado", values: [true, "1"], in: "artmadeit/mascotasdse2023-2" },
    { heading: "fecha_eliminacion", values: past, in: "com.example.mascotas.model" },
    { heading: "removed_at", values: past, in: "com.hong.forapw.domain.animal" },
    { heading: "archived", values: [true, "true", 1], in: "LFwBH/AnimalShelterBackend" },
    { heading: "archiveDate", values: past, in: "LFwBH/AnimalShelterBackend" },
    { heading: "fechaBorrado", values: past, in: "an issue of this repository" },
    { heading: "isDeleted", values: [true, "1"], in: "an issue of this repository" },
    { heading: "Gelöscht", values: ["ja"], in: "an issue of this repository" },
  ],
  inactive: [
    {
      heading: "active",
      values: [false, "false", "0"],
      in: "ValentinLGonzalez/tp_veterinaria_Progra1",
    },
    { heading: "is_active", values: [false, "False"], in: "an Abrigo's accounts in Django" },
    { heading: "Activo", values: ["No", "NO"], in: "an issue of this repository" },
    { heading: "activa", values: [false, "no"], in: "a Java entity of mascotas" },
    { heading: "ativo", values: [false, "não", "Na\u0303o"], in: "br.com.mpet.model" },
    {
      heading: "published",
      values: [false, "false"],
      in: "an interface of Animal with protectressName",
    },
    { heading: "visible", values: [false, "no"], in: "artemo24/DyrBok" },
    { heading: "adoptable", values: [false, "f"], in: "cifarquhar/animal_shelter" },
    { heading: "available", values: [false, "false"], in: "claramauro/Pet-Foster-Connect-back" },
    { heading: "disponible", values: [false, "no"], in: "SebaMarotta/ohmydog" },
    { heading: "in_adopcion", values: [false, "no"], in: "marcosdgi/pet-guard" },
    { heading: "disponible_adopcion", values: [false], in: "a MascotaEntity in TypeScript" },
    { heading: "disponivel", values: [false, "não"], in: "a Prisma schema of Animal" },
    { heading: "Disponibilidade", values: ["Não", "Adotado"], in: "eugenia-m-m/PROJETO-I-POO" },
  ],
  outcome: [
    {
      heading: "OutcomeType",
      values: ["Adoption", "Transfer", "Euthanasia", "Return_to_owner", "Died"],
      in: "ShubhankarGoje/DCSC-homeworks",
    },
    { heading: "outcome_type", values: ["Adoption", "Transfer"], in: "alexyarosh/csci5352-f23" },
    { heading: "Disposition", values: ["TRANSFER", "DISPOSAL"], in: "an issue of this repository" },
  ],
  "outcome date": [
    { heading: "outcome_date", values: past, in: "the cities in test/fixtures" },
    {
      heading: "OutcomeDate",
      values: ["3/14/2024", ...past.slice(0, 1)],
      in: "the cities in test/fixtures",
    },
  ],
};

/** What takes nothing of an animal that is available, beside its status. */
export const yeses: readonly Seen[] = [
  {
    heading: "adopted",
    values: [false, "false", 0, "0", "No", "no", "N", ""],
    in: "Amigos-con-Cola/AmigosConColaApi",
  },
  {
    heading: "adoptado",
    values: ["no", "NO", "No adoptado", "-"],
    in: "agusfennema/adopta-un-amigo-main",
  },
  { heading: "adopter_id", values: ["NULL", "", "0", 0], in: "pet_book.sql" },
  { heading: "adoptionFee", values: [150, "150", "$150"], in: "an animalSchema with zod" },
  { heading: "Adoption fee", values: ["150 EUR"], in: "an animalSchema with zod" },
  { heading: "adoptable", values: [1, "1", "t", true], in: "cifarquhar/animal_shelter" },
  { heading: "available", values: [true, "true", "Yes"], in: "claramauro/Pet-Foster-Connect-back" },
  { heading: "archived", values: [false, "false", "0"], in: "LFwBH/AnimalShelterBackend" },
  {
    heading: "deleted_at",
    values: ["NULL", "", "0000-00-00 00:00:00"],
    in: "quanterall/smartcitydogs",
  },
  { heading: "DECEASEDDATE", values: ["", "1899-12-30", "0000-00-00"], in: "sheltermanager/asm3" },
  { heading: "animal_closeddate", values: ["2999-12-31"], in: "data.moa.gov.tw" },
  {
    heading: "adoptionDate",
    values: ["2999-12-31", "1900-01-01", ""],
    in: "096benjaminbenoit/pawwws",
  },
  { heading: "deceased_reason", values: ["old age of the mother"], in: "ninetwentyfour/Hospitium" },
  { heading: "PTSREASON", values: ["Sick/Injured"], in: "sheltermanager/asm3" },
  {
    heading: "razonAdopcion",
    values: ["El dueño murió"],
    in: "Uniandes-ISIS2603-backup/s4_Mascotas_Front_201910",
  },
  { heading: "isAcogido", values: [true, "sí"], in: "jumelleCL/asociacion-jodar" },
  { heading: "isHosted", values: ["true"], in: "096benjaminbenoit/pawwws" },
  { heading: "hostFamilyId", values: [3, "3"], in: "096benjaminbenoit/pawwws" },
  { heading: "current_foster_user_id", values: [3], in: "public.animals of a rescue's SQL" },
  { heading: "cameFrom", values: ["owner died"], in: "LFwBH/AnimalShelterBackend" },
  { heading: "Transferred from", values: ["Another shelter"], in: "an issue of this repository" },
  { heading: "Last outcome", values: ["Adoption"], in: "an issue of this repository" },
  { heading: "Previous status", values: ["Adopted"], in: "an issue of this repository" },
  {
    heading: "nome_recebedor",
    values: ["Guilherme"],
    in: "isaacsantanadevr/tarefas-ebac-Isaac-Santana",
  },
  { heading: "owner", values: ["Council"], in: "cifarquhar/animal_shelter" },
  { heading: "lastOwner", values: ["Smith"], in: "an interface of Animal with lookingForHome" },
  { heading: "veces_adoptado", values: [2, "2"], in: "an interface of Mascota in TypeScript" },
  {
    heading: "requisito_adopcion",
    values: ["Casa con jardín"],
    in: "an interface of Mascota in TypeScript",
  },
  { heading: "deathReasonId", values: [3, "3"], in: "graphometrica/leaders2020_backend" },
  { heading: "admissionDate", values: past, in: "graphometrica/leaders2020_backend" },
  { heading: "tmp_adopt_for_days", values: [14], in: "kkuczynski/JavaAngularDB" },
  { heading: "date_of_intake", values: past, in: "ninetwentyfour/Hospitium" },
  { heading: "data_entrada", values: past, in: "isaacsantanadevr/tarefas-ebac-Isaac-Santana" },
  { heading: "condition", values: ["Normal"], in: "the cities in test/fixtures" },
  { heading: "health_status", values: ["healthy"], in: "a Directus collection of pets" },
  {
    heading: "published",
    values: [true, "true", "2024-03-14"],
    in: "an interface of Animal with protectressName",
  },
  { heading: "published_at", values: past, in: "si-huynh/petsave" },
  { heading: "is_active", values: [true, "True", "1"], in: "an Abrigo's accounts in Django" },
  { heading: "isAdoptionPending", values: ["No", false], in: "RescueGroups API v5" },
  { heading: "ZIP", values: ["90210"], in: "the cities in test/fixtures" },
  { heading: "chip_date", values: past, in: "an issue of this repository" },
  { heading: "Returned", values: past, in: "an issue of this repository" },
  { heading: "Disponibilidade", values: ["Sim", "Disponível"], in: "eugenia-m-m/PROJETO-I-POO" },
  { heading: "days_left", values: [3], in: "an issue of this repository" },
  { heading: "birth_year", values: [2016, "2016"], in: "sevacezar/priyut_luchshiy_drug" },
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
