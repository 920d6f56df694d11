/** What the traced modules of `scripts/house.ts` call. */
import { appendFileSync } from "node:fs";

const file = process.env["HOUSE_TRACE"] ?? "";

/** Notes that a function of the module `path` runs. */
export function seen(path: string): void {
  if (file !== "") appendFileSync(file, `${path}\n`);
}
