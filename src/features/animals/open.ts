import { type Given, type StoreCommand, storeCommand } from "../command.ts";
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

/** A command that works on animals. */
export const animalCommand = <Options, Arguments extends readonly unknown[] = []>({
  run,
  ...form
}: Omit<StoreCommand<Options, Arguments>, "run"> & {
  run(io: Io, services: AnimalServices, given: Given<Options>, ...args: Arguments): Promise<void>;
}) =>
  storeCommand<Options, Arguments>({
    ...form,
    run: (io, services, ...rest) => run(io, animalServices(services), ...rest),
  });
