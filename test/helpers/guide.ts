/** Runs the commands of pages of docs/ in a copy of this system, and compares their outputs. */
import { inSystem } from "./system.ts";

/** A command of a page, and what the page says that it prints. */
interface PageCommand {
  readonly command: string;
  readonly output: string;
  /** The command's first line and the line after its output, in the page, from 0. */
  readonly start: number;
  readonly end: number;
}

/** The commands of a page: lines that begin with `$ ` in its blocks, and the output below each. */
export function commandsOf(page: string): PageCommand[] {
  const lines = page.split("\n");
  const commands: PageCommand[] = [];
  let isInside = false;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (line.startsWith("```")) isInside = !isInside;
    if (!isInside || !line.startsWith("$ ")) continue;
    const start = at;
    let command = line.slice(2);
    while (command.endsWith("\\")) command += `\n${lines[(at += 1)] ?? ""}`;
    const output: string[] = [];
    while (!/^(?:\$ |```)/.test(lines[at + 1] ?? "```")) output.push(lines[(at += 1)] ?? "");
    commands.push({ command, output: output.join("\n").trimEnd(), start, end: at + 1 });
  }
  return commands;
}

/** The page with other outputs, where they differ from what it says, and with no secret in full. */
export function withOutputs(page: string, outputs: readonly string[]): string {
  const lines = page.split("\n");
  const commands = commandsOf(page).map((each, at) => ({ ...each, now: outputs[at] ?? "" }));
  for (const { command, output, start, end, now } of commands.toReversed()) {
    if (comparable(now) === comparable(output)) continue;
    const masked = now.replaceAll(/(rehome_(?:live|test)_)\w{36}/g, "$1...");
    const shown = [...`$ ${command}`.split("\n"), ...(now === "" ? [] : masked.split("\n"))];
    lines.splice(start, end - start, ...shown);
  }
  return lines.join("\n");
}

/** Runs the commands as the user kim, who may use sudo. Returns what each prints. */
export async function runCommands(
  commands: readonly PageCommand[],
  {
    prepare,
    before,
  }: {
    /** What root does first. */
    prepare: string;
    /** What happens on the machine before a command: by the beginning of that command. */
    before: Readonly<Record<string, string>>;
  },
): Promise<string[]> {
  const left = new Map(Object.entries(before));
  const steps = commands.map(({ command }, at) => {
    const [key, hook = ":"] = [...left].find(([start]) => command.startsWith(start)) ?? [];
    if (key !== undefined) left.delete(key);
    return [
      `sudo bash -euc ${quoted(hook)} >/tmp/hook 2>&1 || { echo "@@HOOK"; cat /tmp/hook; }`,
      `echo "@@${at}"`,
      `eval ${quoted(command)} >/tmp/out 2>&1 </dev/null || true`,
      // What systemd leaves to its journal, for whoever reads why a start failed.
      "grep -q 'journalctl -xeu' /tmp/out && sudo journalctl -u rehome -n 20 -o cat >>/tmp/out",
      "cat /tmp/out; cat /tmp/out >>/tmp/all",
    ].join("\n");
  });
  const script = `${steps.join("\n")}\n`;
  const text = await inSystem(`
    rm /usr/local/bin/rehome
    useradd --create-home --shell /bin/bash kim
    echo 'kim ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/kim
    echo "127.0.0.1 $(hostname) localhost" >/etc/hosts
    ${prepare}
    cat >/tmp/steps <<'END-OF-STEPS'
${script}END-OF-STEPS
    su - kim -c 'bash /tmp/steps'`);
  if (text.includes("@@HOOK")) throw new Error(text);
  return commands.map(
    (_, at) => (text.split(`@@${at}\n`)[1] ?? "").split("@@")[0]?.trimEnd() ?? "",
  );
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A text without what differs from run to run, such as ids, keys, times and sizes. */
export function comparable(text: string): string {
  return (
    text
      .replaceAll(/key_[0-9a-z]{12}/g, "KEY-ID")
      .replaceAll(/(rehome_(?:live|test)_)\w*(?:\.\.\.)?/g, "$1SECRET")
      .replaceAll(/rehome-[\da-f]{8}-/g, "rehome-")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:]{6,8}Z|\d{8}T\d{6}Z/g, "TIME")
      .replaceAll(/\d{4}-\d\d-\d\d/g, "DATE")
      .replaceAll(/[\d,.]+ (?:bytes|[KMGT]iB)/g, "SIZE")
      // What was used of a minute is over with the minute.
      .replaceAll(/^( {2}Minute +).*$/gm, "$1...")
      .replaceAll(/age1[0-9a-z]{10,}/g, "age1KEY")
      .replaceAll(/[ \t]+$/gm, "")
  );
}
