import type { Feature } from "../feature.ts";
import { animalsFeature } from "./animals/index.ts";
import { consoleFeature } from "./console/index.ts";
import { importFeature } from "./import/index.ts";
import { operateFeature } from "./operate/index.ts";
import { keysFeature } from "./keys/index.ts";
import { docsFeature } from "./docs/index.ts";
import { publicFeature } from "./public/index.ts";
import { postgresFeature } from "./postgres/index.ts";
import { scheduleFeature } from "./schedule/index.ts";
import { sourcesFeature } from "./sources/index.ts";

/** The capabilities of this program beside its core. Help shows their commands in this order. */
export const features: readonly Feature[] = [
  keysFeature,
  docsFeature,
  publicFeature,
  animalsFeature,
  importFeature,
  scheduleFeature,
  sourcesFeature,
  postgresFeature,
  operateFeature,
  consoleFeature,
];
