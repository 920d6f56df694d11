import type { Command } from "commander";
import { completeCommand, completionCommand } from "./completion/index.ts";
import { configCommand } from "./config.ts";
import { backupCommand } from "./backup.ts";
import { doctorCommand } from "./doctor/index.ts";
import { healthCommand } from "./health.ts";
import { keysCommand } from "./keys/index.ts";
import { petsCommand } from "./pets/index.ts";
import { openapiCommand } from "./openapi.ts";
import { restoreCommand } from "./restore.ts";
import { serviceCommand } from "./service/index.ts";
import { serveCommand } from "./serve.ts";
import { storeCommand } from "./store/index.ts";
import { usageCommand } from "./usage/index.ts";
import type { Io } from "./io.ts";
import { configure, programOf } from "./program.ts";

/** The command line as a value: all commands, speaking through `io`. */
export function createProgram(io: Io): Command {
  const program = programOf(io, [
    serveCommand(io),
    keysCommand(io),
    petsCommand(io),
    usageCommand(io),
    doctorCommand(io),
    configCommand(io),
    backupCommand(io),
    restoreCommand(io),
    storeCommand(io),
    openapiCommand(io),
    healthCommand(io),
    serviceCommand(io),
    completionCommand(io),
  ]);
  program.addCommand(completeCommand(program, io), { hidden: true });
  configure(program, io);
  return program;
}
