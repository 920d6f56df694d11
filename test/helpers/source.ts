import { parseSync } from "oxc-parser";

/** A node of the syntax tree (ESTree with TypeScript), as far as mutants look at it. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [property: string]: unknown;
}

/** A source file: its path from the project's root, its text and what the parser makes of it. */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly nodes: readonly Node[];
}

/** Parses TypeScript. Throws when it is none. */
export function parseSource(path: string, text: string): Source {
  const { program, errors } = parseSync(path, text);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${path}: ${error.message}`);
  const nodes: Node[] = [];
  collect(program, nodes);
  return { path, text, nodes };
}

/** The line of the file on which `offset` lies, from 1. */
export function lineOf(source: Source, offset: number): number {
  return source.text.slice(0, offset).split("\n").length;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

function collect(value: unknown, nodes: Node[]): void {
  if (Array.isArray(value)) for (const each of value) collect(each, nodes);
  if (!isNode(value)) return;
  nodes.push(value);
  for (const each of Object.values(value)) if (typeof each === "object") collect(each, nodes);
}
