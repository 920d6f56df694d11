import type { Command } from "commander";
import { type Given, storeCommand as commandOnStore } from "../command.ts";
import type { Io } from "../../cli/io.ts";
import type { Services } from "../../service/services.ts";
import { AnimalService } from "./animals.ts";
import { CategoryService } from "./categories.ts";

export type { Given };

/** What people do with animals and categories, beside what the core offers. */
export interface AnimalServices extends Services {
  readonly animals: AnimalService;
  readonly categories: CategoryService;
}

/** The services for work on animals, in the name of the one who runs this process. */
export function animalServices(services: Services): AnimalServices {
  const editing = { ...services, db: services.store.db };
  return {
    ...services,
    animals: new AnimalService(editing),
    categories: new CategoryService(editing),
  };
}

export function storeCommand<Options, Arguments extends readonly unknown[] = []>(
  io: Io,
  form: Parameters<typeof commandOnStore<Options, Arguments>>[1],
  work: (services: AnimalServices, given: Given<Options>, ...args: Arguments) => Promise<void>,
): Command {
  return commandOnStore<Options, Arguments>(io, form, (services, given, ...args: Arguments) =>
    work(animalServices(services), given, ...args),
  );
}
