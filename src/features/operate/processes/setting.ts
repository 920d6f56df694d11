import { availableParallelism } from "node:os";
import type { Setting } from "../../../config.ts";

const processesMax = 64;

/** `--processes`: how many processes serve at one address. `auto` is one for each core. */
export const processesSetting: Setting<number> = {
  flag: "processes",
  placeholder: "N|auto",
  description: "processes that serve at one address; auto is one for each core",
  default: 1,
  rule: `must be a whole number from 1 to ${processesMax}, or auto`,
  parse(text) {
    if (text === "auto") return availableParallelism();
    const count = /^\d{1,2}$/.test(text) ? Number(text) : 0;
    return count >= 1 && count <= processesMax ? count : undefined;
  },
};
