import type { Command } from "commander";
import { type Beginning, withServices } from "../../cli/open.ts";
import type { Io } from "../../cli/io.ts";
import { configOf } from "../../cli/options.ts";
import type { LoadedConfig } from "../../config.ts";
import type { Services } from "../../service/services.ts";
import { AnimalService } from "./animals.ts";
import { CategoryService } from "./categories.ts";

/** What people do with animals and categories, beside what the core offers. */
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

/** Runs `work` on the store that the settings of `command` name, and closes it whatever happens. */
export function withAnimals<T>(
  command: Command,
  io: Io,
  work: (services: AnimalServices, loaded: LoadedConfig) => Promise<T>,
  beginning: Beginning = {},
): Promise<T> {
  const loaded = configOf(command, io);
  return withServices(
    loaded.config,
    io,
    (services) => work(animalServices(services), loaded),
    beginning,
  );
}
