import "./environment.ts";
import { features } from "./features/index.ts";
import { processIo } from "./cli/process.ts";
import { run } from "./cli/program.ts";

// Whatever this process makes belongs to its user alone: databases, backups, folders.
process.umask(0o077);

process.exit(await run(process.argv.slice(2), processIo(features, process.exit)));
