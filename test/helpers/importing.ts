/** `rehome pets import` and `pets export` on the data folder in a folder. */
import { join } from "node:path";
import { rehome } from "./binary.ts";

export const importInto = (folder: string, ...args: string[]) =>
  rehome(["pets", "import", ...args, "--data", join(folder, "data")]);

export const exported = (folder: string, format = "ndjson") =>
  rehome(["pets", "export", "--format", format, "--data", join(folder, "data")]);
