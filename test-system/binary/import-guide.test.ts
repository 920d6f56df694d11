/**
 * docs/import.md, line by line: its files are written as they stand there, its commands are run on
 * the compiled file, and what they print is what the page says, but for times. With UPDATE_GUIDE=1
 * the page is written anew from what is printed.
 */
import { expect, test } from "bun:test";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, executable, temporaryFolder } from "../../test/helpers/binary.ts";
import { finished } from "../../test/helpers/finished.ts";
import { comparable, commandsOf, isUpdate, withOutputs } from "../../test/helpers/transcript.ts";

const page = join(import.meta.dir, "../../docs/import.md");
const slowMs = 120_000;

/** The files of a page: blocks whose first line names one behind the language. */
function filesOf(text: string): (readonly [name: string, content: string])[] {
  const blocks = text.matchAll(/^```\w+ (\S+)\n([^]*?)^```$/gm);
  return [...blocks].map(([, name = "", content = ""]) => [name, content]);
}

test(
  "docs/import.md prints what it says",
  async () => {
    using folder = temporaryFolder();
    const text = readFileSync(page, "utf8");
    const files = filesOf(text);
    expect(files.length).toBeGreaterThan(4);
    for (const [name, content] of files) writeFileSync(join(folder.path, name), content);
    symlinkSync(await executable(), join(folder.path, "rehome"));
    const env = {
      ...cleanEnvironment,
      PATH: `${folder.path}:${process.env["PATH"] ?? ""}`,
      REHOME_DATA: join(folder.path, "data"),
      SUDO_USER: "ana",
    };
    const commands = commandsOf(text);
    const outputs: string[] = [];
    for (const { command } of commands) {
      const child = Bun.spawn(["bash", "-c", `${command} 2>&1`], {
        cwd: folder.path,
        env,
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      const { stdout } = await finished(child);
      // CSV ends its lines in CRLF, a page in LF.
      const output = stdout.replaceAll(join(folder.path, "data"), "the folder");
      outputs.push(output.replaceAll("\r", "").trimEnd());
    }
    if (isUpdate) {
      writeFileSync(page, withOutputs(text, outputs));
      return;
    }
    const shown = (output: readonly string[]) =>
      commands.map(({ command }, at) => `$ ${command}\n${comparable(output[at] ?? "")}`).join("\n");
    expect(shown(outputs)).toBe(shown(commands.map(({ output }) => output)));
  },
  slowMs,
);
