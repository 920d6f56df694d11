import { Command } from "commander";
import type { Io } from "../io.ts";
import { exportCommand } from "./export.ts";
import { importCommand } from "./import.ts";

/** `rehome pets`: the animals, for operators. */
export function petsCommand(io: Io): Command {
  return new Command("pets")
    .description("take whole catalogues in and out, beside a running server or without one")
    .addCommand(importCommand(io))
    .addCommand(exportCommand(io));
}
