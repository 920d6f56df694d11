import type { Command } from "commander";
import { notices } from "../../../../scripts/licenses.ts" with { type: "macro" };
import { type Io } from "../../../cli/io.ts";
import { commandOf } from "../../command.ts";
import { writeAll } from "../../json.ts";

/** `rehome licenses`: whose code is inside the executable, and under which licenses. */
export function licensesCommand(io: Io): Command {
  return commandOf({
    name: "licenses",
    about: "print the licenses of everything inside this executable",
    remark: "The packages by the lock file, what Bun links, and each license in full.",
    examples: ["rehome licenses | less", "rehome licenses > THIRD-PARTY-NOTICES"],
  }).action(() => writeAll(io, [notices()]));
}
