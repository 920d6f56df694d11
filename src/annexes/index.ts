import type { Annex } from "../annex.ts";
import { animalsAnnex } from "./animals/index.ts";
import { consoleAnnex } from "./console/index.ts";
import { importAnnex } from "./import/index.ts";
import { operateAnnex } from "./operate/index.ts";
import { pageAnnex } from "./page/index.ts";
import { postgresAnnex } from "./postgres/index.ts";

/** The capabilities of this program beside its kernel. Help shows their commands in this order. */
export const annexes: readonly Annex[] = [
  pageAnnex,
  animalsAnnex,
  importAnnex,
  postgresAnnex,
  operateAnnex,
  consoleAnnex,
];
