import { Argument, Command } from "commander";
import type { Io } from "../../../cli/io.ts";
import { createProgram } from "../../../cli/program.ts";
import { complete } from "./complete.ts";
import { storeLookup } from "./lookup.ts";
import { scripts, shells, type Shell } from "./scripts.ts";

/** `rehome completion SHELL`: what teaches a shell to complete our commands. */
export function completionCommand(io: Io): Command {
  return new Command("completion")
    .description("print the script that completes commands, options, ids, plans and statuses")
    .addArgument(new Argument("<shell>", "shell to print it for").choices([...shells]))
    .addHelpText(
      "after",
      `
Ids and labels come from the data folder of the typed command, if your account can read it. For the data of this machine's
service, complete them in a root shell (sudo -i).

Examples:
  rehome completion bash > /etc/bash_completion.d/rehome
  rehome completion zsh > "\${fpath[1]}/_rehome"
  rehome completion fish > ~/.config/fish/completions/rehome.fish
  source <(rehome completion bash)     for this shell only`,
    )
    .action((shell: Shell) => {
      io.out(scripts[shell]);
    });
}

/**
 * `rehome __complete -- WORDS`: one candidate per line, with its description after a tab; `:files`
 * for file names. It never fails or prints an error, because somebody is typing.
 */
export function completeCommand(io: Io): Command {
  return new Command("__complete")
    .argument("[words...]")
    .action(async (words: readonly string[]) => {
      try {
        const found = await complete(await createProgram(io), words, storeLookup(io));
        if (found === "files") io.out(":files\n");
        else for (const { value, about = "" } of found) io.out(`${value}\t${oneLine(about)}\n`);
      } catch {
        // What is wrong with the store or the settings is said when the command runs.
      }
    });
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}
