import { parseSync } from "oxc-parser";

/** A node of the syntax tree (ESTree with TypeScript), as far as the rules look at it. */
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
  /** Every module it names: imports, exports, `import()`, `new URL(..., import.meta.url)`. */
  readonly imports: readonly string[];
}

/** Parses TypeScript. Throws when it is none, so that no file escapes the rules. */
export function parseSource(path: string, text: string): Source {
  const { program, errors } = parseSync(path, text);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${path}: ${error.message}`);
  const nodes: Node[] = [];
  collect(program, nodes);
  return { path, text, nodes, imports: nodes.flatMap(importedBy) };
}

/** All TypeScript files below `folder` of the project at `root`. */
export function readSources(root: string, folder: string): Source[] {
  const files = [...new Bun.Glob(`${folder}/**/*.ts`).scanSync({ cwd: root })].toSorted();
  return files.map((path) => parseSource(path, readText(`${root}/${path}`)));
}

/** The line of the file on which `offset` lies, from 1. */
export function lineOf(source: Source, offset: number): number {
  return source.text.slice(0, offset).split("\n").length;
}

/** The child of `node` under `name`, where it is a node. */
export function child(node: Node | undefined, name: string): Node | undefined {
  const value = node?.[name];
  return isNode(value) ? value : undefined;
}

/** The dotted name of `process.env`, also of `process["env"]`; undefined for others. */
export function nameOf(node: Node | undefined): string | undefined {
  if (node?.type === "Identifier") return String(node["name"]);
  if (node?.type === "MetaProperty") return "import.meta";
  if (node?.type !== "MemberExpression") return undefined;
  const object = nameOf(child(node, "object"));
  const property = child(node, "property");
  const isName = node["computed"] !== true || property?.type === "Literal";
  return object !== undefined && isName ? `${object}.${text(property)}` : undefined;
}

/** The number that a literal, or arithmetic of literals, stands for. */
export function numberOf(node: Node | undefined): number | undefined {
  if (node?.type === "Literal" && typeof node["value"] === "number") return node["value"];
  if (node?.type !== "BinaryExpression") return undefined;
  const [left, right] = [numberOf(child(node, "left")), numberOf(child(node, "right"))];
  if (left === undefined || right === undefined) return undefined;
  if (node["operator"] === "*") return left * right;
  return node["operator"] === "+" ? left + right : undefined;
}

/** The nodes in the list that `node` has under `name`, such as a call's `arguments`. */
export function children(node: Node, name: string): Node[] {
  const value = node[name];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function readText(path: string): string {
  return new TextDecoder().decode(Bun.mmap(path));
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

function text(node: Node | undefined): string {
  return String(node?.["name"] ?? node?.["value"]);
}

function importedBy(node: Node): string[] {
  const isUrl = node.type === "NewExpression" && nameOf(child(node, "callee")) === "URL";
  const [first, second] = isUrl ? children(node, "arguments") : [child(node, "source")];
  if (isUrl && nameOf(second) !== "import.meta.url") return [];
  return typeof first?.["value"] === "string" ? [first["value"]] : [];
}
