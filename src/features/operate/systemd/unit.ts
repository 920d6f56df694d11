/** What systemd starts a service with, as its unit and the files that the unit names say it. */

/** The folders that a unit's specifiers stand for (systemd.unit(5), "Specifiers"). */
export interface Specifiers {
  /** `%S`: where services keep their state. */
  readonly state: string;
  /** `%h`: the home of the user whose manager runs the unit. */
  readonly home: string;
  /** `%E`: where services keep their configuration. */
  readonly configuration: string;
}

/** The lines of a unit that say what its process is started with. */
export interface Unit {
  /** The account that it runs as; undefined for that of the manager. */
  readonly user: string | undefined;
  readonly environment: ReadonlyMap<string, string>;
  readonly environmentFiles: readonly string[];
  /** The words of the command. */
  readonly command: readonly string[];
}

/**
 * Reads the `[Service]` section of a unit and of its drop-ins, in this order. An assignment of
 * nothing takes the earlier ones back, as systemd has it.
 */
export function readUnit(texts: readonly string[], specifiers: Specifiers): Unit {
  const environment = new Map<string, string>();
  let environmentFiles: string[] = [];
  let user: string | undefined;
  let command: string[] = [];
  for (const [name, value] of texts.flatMap(serviceLines)) {
    const words = wordsOf(value).map((word) => expanded(word, specifiers));
    if (name === "User") user = words[0];
    if (name === "ExecStart") command = words;
    if (name === "EnvironmentFile") {
      environmentFiles = words.length === 0 ? [] : [...environmentFiles, ...words];
    }
    if (name !== "Environment") continue;
    if (words.length === 0) environment.clear();
    for (const word of words) {
      const [, key, text] = /^(\w+)=(.*)$/s.exec(word) ?? [];
      if (key !== undefined && text !== undefined) environment.set(key, text);
    }
  }
  return {
    user,
    environment,
    // A dash in front lets the file be missing.
    environmentFiles: environmentFiles.map((file) => file.replace(/^-/, "")),
    command,
  };
}

function serviceLines(text: string): [name: string, value: string][] {
  let section = "";
  return joined(text, " ").flatMap((line): [string, string][] => {
    const [, header] = /^\[(.*)\]$/.exec(line) ?? [];
    if (header !== undefined) section = header;
    const [, name, value] = /^(\w+)\s*=\s*(.*)$/s.exec(line) ?? [];
    return section === "Service" && name !== undefined ? [[name, value ?? ""]] : [];
  });
}

/** The variables of an environment file (systemd.exec(5), "EnvironmentFile="), not expanded. */
export function readEnvironmentFile(text: string): ReadonlyMap<string, string> {
  return new Map(
    joined(text, "").flatMap((line): [string, string][] => {
      const [, name, value] = /^([A-Za-z_]\w*)\s*=\s*(.*)$/s.exec(line) ?? [];
      return name === undefined ? [] : [[name, unquoted(value ?? "")]];
    }),
  );
}

/** The lines of a file; one that ends in a backslash goes on in the next, behind `between`. */
function joined(text: string, between: string): string[] {
  return text
    .replaceAll(/\\\r?\n/g, between)
    .split("\n")
    .map((line) => line.trim());
}

/** The words of a value; quotes and backslashes keep a space in one. */
function wordsOf(value: string): string[] {
  const words = value.match(/(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+/gs) ?? [];
  return words.map(unquoted);
}

function unquoted(value: string): string {
  return value.replaceAll(
    /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/gs,
    (_, double: string | undefined, single: string | undefined, escaped: string | undefined) =>
      double?.replaceAll(/\\(.)/gs, "$1") ?? single ?? escaped ?? "",
  );
}

function expanded(word: string, { state, home, configuration }: Specifiers): string {
  const folders: Readonly<Record<string, string>> = { S: state, h: home, E: configuration };
  return word.replaceAll(/%(.)/g, (whole, letter: string) =>
    letter === "%" ? "%" : (folders[letter] ?? whole),
  );
}
