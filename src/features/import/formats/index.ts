import { asm } from "./asm.ts";
import type { Format, Sample } from "./format.ts";
import { petfinder } from "./petfinder.ts";
import { petstore } from "./petstore.ts";
import { rehome } from "./rehome.ts";
import { rescuegroups } from "./rescuegroups.ts";
import { shelters } from "./shelters.ts";

/** Every known format; detection asks them in this order. */
export const formats: readonly Format[] = [
  rehome,
  petstore,
  petfinder,
  rescuegroups,
  asm,
  ...shelters,
];

export function formatNamed(name: string): Format | undefined {
  return formats.find((format) => format.name === name);
}

/** The first format that recognises the sample. */
export function detectFormat(sample: Sample): Format | undefined {
  return formats.find((format) => format.recognises(sample));
}
