/** The scripts that teach a shell to ask `rehome __complete` what may stand where the cursor is. */
import bash from "./bash.txt" with { type: "text" };
import fish from "./fish.txt" with { type: "text" };
import zsh from "./zsh.txt" with { type: "text" };

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

export const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };
