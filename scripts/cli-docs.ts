/** `bun run docs:cli` writes docs/cli.md from the commands. A test compares them. */
import { join } from "node:path";
import type { TSchema } from "@sinclair/typebox";
import type { Command } from "commander";
import { jsonSchemaOf } from "../src/features/json.ts";
import { createProgram, pathOf } from "../src/cli/program.ts";
import { testIo } from "../test/helpers/io.ts";

const file = join(import.meta.dir, "../docs/cli.md");
const helpCells = 100;

const introduction = `# The command line

This page lists every command with its options and its JSON. \`bun run docs:cli\` generates it from the commands.

## For scripts

- Data goes to standard output, messages and errors go to standard error. An error is a line \`Error: ...\`, often with a
  line \`Try: ...\`.
- The exit code is 0 if the command succeeded, 1 if it failed, and 2 if its usage was wrong.
- With \`--json\` a command prints one JSON document. Its fields are listed below and are stable within a major version: new
  ones may be added, none is renamed, removed or changed in meaning. Ignore fields that you do not know.
- Times are UTC, in seconds. Ids of animals and categories are int64; JavaScript, and jq before 1.7, round them beyond 2^53.
- \`pets remove\`, \`undo\` and \`restore\` ask before they change anything. Without a terminal they need \`--yes\`.
  \`keys revoke\` and \`people remove\` ask on a terminal only, so that a script can end a leaked key or session.
- Tables fit the width of a terminal; elsewhere nothing is truncated. Colours appear on terminals only, unless \`NO_COLOR\`
  is set.
- Every setting is a flag and a variable (\`--base-url\` is \`REHOME_BASE_URL\`). The flag has priority. An unknown
  \`REHOME_\` variable is an error.
`;

/** The page. */
export async function cliDocs(): Promise<string> {
  let help = "";
  const out = (text: string) => void (help += text);
  const program = await createProgram(testIo({ columns: helpCells, out }));
  const commands = leaves(program);
  const contents = commands.map((command) => {
    const path = pathOf(command);
    return `- [${path}](#${path.replaceAll(" ", "-")}): ${command.description()}`;
  });
  const sections = commands.map((command) => {
    help = "";
    command.outputHelp();
    const usage = `\`\`\`\n${help.trim()}\n\`\`\``;
    const schema = jsonSchemaOf(command);
    const shape = schema === undefined ? "" : `\n\n${shapeTable(schema)}`;
    return `## ${pathOf(command)}\n\n${usage}${shape}\n`;
  });
  return [introduction, `## Commands\n\n${contents.join("\n")}\n`, ...sections].join("\n");
}

/** Every command with all that is below it, without help and what is hidden. */
function leaves(command: Command): Command[] {
  const children = command.createHelp().visibleCommands(command);
  return [command, ...children.filter((child) => child.name() !== "help").flatMap(leaves)];
}

function shapeTable(schema: TSchema): string {
  const isList = schema["type"] === "array";
  const [either] = variants(schema);
  const item = isList ? (schema["items"] as TSchema) : (either ?? schema);
  const rows = fieldsOf(item, isList ? "[]" : "").map(
    ({ path, type, about }) => `| \`${path}\` | ${type} | ${about.replaceAll("|", "\\|")} |`,
  );
  const what = isList ? " a list of" : either && ` ${schema.description ?? ""}`;
  const title = `\`--json\` prints${what ?? ""}:`;
  return [title, "", "| field | type | meaning |", "|---|---|---|", ...rows].join("\n");
}

interface Field {
  readonly path: string;
  readonly type: string;
  readonly about: string;
}

function fieldsOf(schema: TSchema, prefix: string): Field[] {
  const properties = (schema["properties"] ?? {}) as Record<string, TSchema>;
  const required = (schema["required"] ?? []) as string[];
  return Object.entries(properties).flatMap(([name, property]) => {
    const path = prefix === "" ? name : `${prefix}.${name}`;
    const absent = required.includes(name) ? "" : ", may be absent";
    const field = {
      path,
      type: typeText(property) + absent,
      about: property.description ?? (property["items"] as TSchema | undefined)?.description ?? "",
    };
    return [
      field,
      ...inner(property).flatMap(({ schema: below, suffix }) => fieldsOf(below, path + suffix)),
    ];
  });
}

/** The objects within a value: itself, the items of a list, or what it is when it is not null. */
function inner(schema: TSchema): { schema: TSchema; suffix: string }[] {
  if (schema["type"] === "object") return [{ schema, suffix: "" }];
  if (schema["type"] === "array") return [{ schema: schema["items"] as TSchema, suffix: "[]" }];
  return variants(schema).flatMap(inner);
}

function variants(schema: TSchema): TSchema[] {
  return (schema["anyOf"] ?? []) as TSchema[];
}

function typeText(schema: TSchema): string {
  const all = variants(schema);
  if (all.length > 0) return [...new Set(all.map(typeText))].join(" or ");
  if (schema["const"] !== undefined) return JSON.stringify(schema["const"]);
  const pattern = schema["pattern"];
  if (typeof pattern === "string") return pattern.includes("T") ? "time" : "day";
  if (schema["type"] === "array") {
    return `list of ${typeText(schema["items"] as TSchema)}`;
  }
  return String(schema["type"]);
}

if (import.meta.main) {
  await Bun.write(file, await cliDocs());
  process.stdout.write("docs/cli.md\n");
}
