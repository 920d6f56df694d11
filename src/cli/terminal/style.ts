import type { Io } from "../io.ts";

export type Paint = (text: string) => string;

const plain: Paint = (text) => text;

/** SGR parameters (ECMA-48, section 8.3.117) that switch a style on and off. */
const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
} as const;

export type Style = keyof typeof codes;

/** The painters for standard output; without colours they return their text as it is. */
export function stylesOf({ env, isTerminal }: Io): Readonly<Record<Style, Paint>> {
  // NO_COLOR: see no-color.org.
  const isColored = isTerminal && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  const painter = (style: Style): Paint => {
    const [on, off] = codes[style];
    return isColored ? (text) => `\u001B[${on}m${text}\u001B[${off}m` : plain;
  };
  return {
    bold: painter("bold"),
    dim: painter("dim"),
    red: painter("red"),
    green: painter("green"),
    yellow: painter("yellow"),
  };
}
