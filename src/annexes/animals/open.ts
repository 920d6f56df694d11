import { type Beginning, withServices } from "../../cli/open.ts";
import type { Io } from "../../cli/io.ts";
import type { Config } from "../../config.ts";
import type { Services } from "../../service/services.ts";
import { AnimalService } from "./animals.ts";
import { CategoryService } from "./categories.ts";

/** What people do with animals and categories, beside what the kernel offers. */
export interface AnimalServices extends Services {
  readonly animals: AnimalService;
  readonly categories: CategoryService;
}

/** The services for work on animals, in the name of the one who runs this process. */
export function animalServices(services: Services): AnimalServices {
  return {
    ...services,
    animals: new AnimalService(services),
    categories: new CategoryService(services),
  };
}

/** Runs `work` on the store for one command, and closes it whatever happens. */
export function withAnimals<T>(
  config: Config,
  io: Io,
  work: (services: AnimalServices) => Promise<T>,
  beginning: Beginning = {},
): Promise<T> {
  return withServices(config, io, (services) => work(animalServices(services)), beginning);
}
