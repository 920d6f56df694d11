import { isJsonObject } from "../../../domain/exact-json.ts";
import type { PetStatus } from "../../../domain/pet.ts";
import type { Format } from "./format.ts";
import {
  categoryName,
  externalId,
  fieldOf,
  isBlank,
  mapperOf,
  shelterName,
  versionOf,
} from "./values.ts";

/** Only these of an animal's 300 columns say whether it is up for adoption. */
interface State {
  readonly archived: boolean;
  /** 1 is an adoption; 3 a transfer, 5 reclaimed by the owner, and so on. */
  readonly movement: unknown;
  readonly reserved: boolean;
  readonly deceased: boolean;
  readonly neverHere: boolean;
  readonly notForAdoption: boolean;
}

/** ASM3, which is sheltermanager.com: the service's `json_adoptable_animals` and its kin, or the same columns as CSV. */
export const asm: Format = {
  name: "asm",
  title: "Animal Shelter Manager 3 / sheltermanager.com, json_adoptable_animals (JSON or CSV)",
  recognises: ({ columns, records: [first] }) =>
    columns?.includes("ANIMALNAME") ?? (isJsonObject(first) && "ANIMALNAME" in first),
  mapper: (columns) => {
    const field = (name: string) => fieldOf(columns, name);
    const id = field("ID");
    const name = field("ANIMALNAME");
    const species = field("SPECIESNAME");
    const changed = field("LASTCHANGEDDATE");
    const state = stateReader(field);
    return mapperOf(columns, (record, line) => {
      const origin = {
        line,
        externalId: externalId("asm", "ID", id(record)),
        version: versionOf(changed(record)),
      };
      const status = statusOf(state(record));
      if ("reason" in status) return { ...origin, kind: "skip", reason: status.reason };
      return {
        ...origin,
        kind: "pet",
        name: shelterName("ANIMALNAME", name(record)),
        category: categoryName("SPECIESNAME", species(record)),
        status: status.status,
      };
    });
  },
};

function stateReader(
  field: (name: string) => (record: unknown) => unknown,
): (record: unknown) => State {
  const flag = (name: string) => {
    const value = field(name);
    return (record: unknown) => isOne(value(record));
  };
  const movement = field("ACTIVEMOVEMENTTYPE");
  const deceasedDate = field("DECEASEDDATE");
  const archived = flag("ARCHIVED");
  const reserved = flag("HASACTIVERESERVE");
  const neverHere = flag("NONSHELTERANIMAL");
  const notForAdoption = flag("ISNOTAVAILABLEFORADOPTION");
  return (record) => ({
    archived: archived(record),
    movement: movement(record),
    reserved: reserved(record),
    deceased: !isBlank(deceasedDate(record)),
    neverHere: neverHere(record),
    notForAdoption: notForAdoption(record),
  });
}

function isOne(value: unknown): boolean {
  return value === 1 || value === "1" || value === true;
}

function statusOf(state: State): { readonly status: PetStatus } | { readonly reason: string } {
  if (state.deceased) return { reason: "deceased" };
  if (state.neverHere) return { reason: "not a shelter animal" };
  if (state.archived) {
    const adopted = isBlank(state.movement) || isOne(state.movement);
    return adopted ? { status: "sold" } : { reason: "left the shelter otherwise than by adoption" };
  }
  if (state.notForAdoption) return { reason: "not available for adoption" };
  return { status: state.reserved ? "pending" : "available" };
}
