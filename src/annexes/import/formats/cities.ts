import type { PetStatus } from "../../../domain/pet.ts";
import { UnreadableInput } from "../read/input.ts";
import type { Format } from "./format.ts";
import {
  categoryName,
  externalId,
  fieldOf,
  isBlank,
  mapperOf,
  shelterName,
  shown,
  versionOf,
} from "./values.ts";

/** Where a city's open-data export holds what we need, in normalised column names. */
interface City {
  readonly name: string;
  readonly title: string;
  readonly animalName: string | undefined;
  readonly state: "outcome_type" | "record_type";
  /** The columns that tell when the record was made, the best first. */
  readonly dates: readonly string[];
  /** A column that only this city's export has. */
  readonly mark: string;
}

const cityTable: readonly City[] = [
  {
    name: "austin",
    title: "Austin Animal Center outcomes (CSV)",
    animalName: "name",
    state: "outcome_type",
    dates: ["datetime"],
    mark: "monthyear",
  },
  {
    name: "king-county",
    title: "King County Regional Animal Services: lost, found, adoptable (CSV)",
    animalName: "animal_name",
    state: "record_type",
    dates: ["date"],
    mark: "record_type",
  },
  {
    name: "long-beach",
    title: "Long Beach Animal Care Services (CSV)",
    animalName: "animal_name",
    state: "outcome_type",
    dates: ["outcome_date", "intake_date"],
    mark: "animal_name",
  },
  {
    name: "dallas",
    title: "Dallas Animal Services, which gives no names (CSV)",
    animalName: undefined,
    state: "outcome_type",
    dates: ["outcome_date", "intake_date"],
    mark: "animal_breed",
  },
];

/** The exports of cities, told apart by their columns; they differ in names, case and what separates words. */
export const cities: readonly Format[] = cityTable.map((city) => ({
  name: city.name,
  title: city.title,
  recognises: ({ columns }) =>
    columns !== undefined &&
    neededColumns(city).every((needed) => columns.map(normalised).includes(needed)),
  mapper: (columns) => cityMapper(city, columns),
}));

function neededColumns(city: City): string[] {
  const name = city.animalName === undefined ? [] : [city.animalName];
  return ["animal_id", "animal_type", city.state, city.mark, ...name];
}

function normalised(column: string): string {
  return column
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_");
}

function cityMapper(city: City, columns: readonly string[] | undefined) {
  const normal = columns?.map(normalised) ?? [];
  for (const needed of neededColumns(city)) {
    if (!normal.includes(needed)) {
      throw new UnreadableInput(1, `expected a CSV column ${needed} for --format ${city.name}`);
    }
  }
  const field = (name: string) => fieldOf(normal, name);
  const id = field("animal_id");
  const type = field("animal_type");
  const state = field(city.state);
  const name = city.animalName === undefined ? () => undefined : field(city.animalName);
  const nameColumn = city.animalName ?? "";
  const dates = city.dates.map(field);
  return mapperOf(columns, (record, line) => {
    const origin = {
      line,
      externalId: externalId(city.name, "animal_id", id(record)),
      version: newest(dates.map((date) => date(record))),
    };
    const status = statusOf(state(record));
    if (status === undefined) {
      return { ...origin, kind: "skip", reason: `${city.state} ${shown(state(record))}` };
    }
    return {
      ...origin,
      kind: "pet",
      name: shelterName(nameColumn, name(record)),
      category: categoryName("animal_type", type(record)),
      status,
    };
  });
}

function newest(dates: readonly unknown[]): number | undefined {
  return versionOf(dates.find((date) => !isBlank(date)));
}

/** No outcome yet is an animal still there. Lost and found animals, transfers and deaths are none of ours. */
function statusOf(state: unknown): PetStatus | undefined {
  if (isBlank(state)) return "available";
  const word = typeof state === "string" ? state.trim().toLowerCase() : undefined;
  if (word === "adoptable") return "available";
  return word === "adoption" ? "sold" : undefined;
}
