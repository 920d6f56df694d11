import { Command } from "commander";
import { notices } from "../../../../scripts/licenses.ts" with { type: "macro" };
import { type Io } from "../../../cli/io.ts";
import { writeAll } from "../../json.ts";

/** `rehome licenses`: whose code is inside the executable, and under which licenses. */
export function licensesCommand(io: Io): Command {
  return new Command("licenses")
    .description("print the licenses of everything inside this executable")
    .addHelpText(
      "after",
      `
The packages by the lock file, what Bun links, and each license in full.

Examples:
  rehome licenses | less
  rehome licenses > THIRD-PARTY-NOTICES`,
    )
    .action(() => writeAll(io, [notices()]));
}
