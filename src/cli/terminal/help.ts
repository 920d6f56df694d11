/** The text of a help page, for a terminal of any width. */

/**
 * `text` in lines of at most `columns` cells. Prose is refilled. A long command is broken so that
 * it can be copied, with its comment on its own line. A table that is too wide has each description
 * below its option.
 */
export function wrapHelp(text: string, columns: number): string {
  return text
    .split("\n\n")
    .map((block) => wrapBlock(block, columns))
    .join("\n\n");
}

function wrapBlock(block: string, columns: number): string {
  const lines = block.split("\n");
  if (lines.every((line) => line.length <= columns)) return block;
  if (/^\n?(?:Options|Commands|Arguments|Formats):\n/.test(block)) return stacked(block, columns);
  const wrapped: string[] = [];
  let prose: string[] = [];
  const flush = () => {
    if (prose.length > 0) wrapped.push(...filled(prose.join(" ").split(/\s+/), columns, "", ""));
    prose = [];
  };
  for (const line of lines) {
    const isProse = /^\S/.test(line) && !line.endsWith(":");
    if (isProse) {
      prose.push(line);
      continue;
    }
    flush();
    wrapped.push(...(line.length <= columns ? [line] : wrapCommand(line, columns)));
  }
  flush();
  return wrapped.join("\n");
}

/** The lines of a table of options, its title first. */
function stacked(table: string, columns: number): string {
  // A description that goes on in further lines is filled again as one.
  const rows = table.replaceAll(/\n {3,}/g, "  ").split("\n");
  const shown = rows.flatMap((line) => {
    const [, term = "", about] = /^( {2}\S.*?)(?: {2,}(\S.*))?$/.exec(line) ?? [];
    if (about === undefined) return [line];
    return [term, ...filled(about.split(/ +/), columns, " ".repeat(6), " ".repeat(6))];
  });
  return shown.join("\n");
}

/** A command of an example, with or without an explanation behind it. */
function wrapCommand(line: string, columns: number): string[] {
  const [, indent = "", command = "", about] = /^(\s*)(.*?)(?: {3,}(\S.*))?$/.exec(line) ?? [];
  // A backslash at the end lets a shell read on in the next line.
  const lines = filled(words(command), columns - " \\".length, indent, `${indent}  `);
  const broken = lines.map((each, at) => (at + 1 < lines.length ? `${each} \\` : each));
  if (about === undefined) return broken;
  return [...broken, ...filled(about.split(/\s+/), columns, `${indent}    `, `${indent}    `)];
}

/** The words of a command; what stands in quotes stays together. */
function words(text: string): string[] {
  return text.match(/(?:[^\s"']|"[^"]*"|'[^']*'|["'])+/g) ?? [];
}

function filled(parts: readonly string[], columns: number, first: string, next: string): string[] {
  const lines: string[] = [];
  let line = first;
  for (const part of parts) {
    const isEmpty = line.trim() === "";
    if (!isEmpty && line.length + 1 + part.length > columns) {
      lines.push(line);
      line = next + part;
    } else {
      line += isEmpty ? part : ` ${part}`;
    }
  }
  return [...lines, line];
}
