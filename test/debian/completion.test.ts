/** The completion scripts in the shells that they are for. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { executable, makeKey, rehome, temporaryFolder } from "../helpers/binary.ts";

const folder = temporaryFolder();
const data = join(folder.path, "data");
const binaries = join(folder.path, "bin");
const env = {
  PATH: `${binaries}:${process.env["PATH"] ?? ""}`,
  HOME: folder.path,
  REHOME_DATA: data,
  TERM: "xterm",
};
/** What a shell would run, if a completion put it on the line. */
const ran = join(folder.path, "ran");
const hostile = `a$(touch ${ran})`;
const hostileFile = "hostile$(touch ran)`touch ran`";

beforeAll(async () => {
  mkdirSync(binaries);
  copyFileSync(await executable(), join(binaries, "rehome"));
  await makeKey(data, "--plan", "free", "--name", hostile);
  writeFileSync(join(folder.path, hostileFile), "");
});
afterAll(() => folder[Symbol.dispose]());

/** What stands in each shell after each of these was typed and Tab was pressed. */
const typed = () =>
  [
    ["rehome ke", "keys"],
    ["rehome keys revo", "revoke"],
    ["rehome keys create --pla", "--plan"],
    ["rehome keys create --plan bus", "business"],
    ["rehome pets set-status 1 sol", "sold"],
    [`rehome backup ${folder.path}/dat`, `${folder.path}/data/`],
    ["rehome pets import host", hostileFile],
  ] as const;

/** The same of a key's label, which no shell completes: the word stays, and its quote is closed. */
const label = [
  ["rehome keys show a", "a", ""],
  ['rehome keys show "a', "a", '"'],
  ["rehome keys show 'a", "a", "'"],
] as const;

describe("bash", () => {
  test("completes commands, options, values and files, and runs nothing", async () => {
    for (const [line, expected] of typed()) expect(await pressTab("bash", line)).toBe(expected);
    for (const [line, expected, end] of label)
      expect(await pressTab("bash", line, end)).toBe(expected);
    expect(existsSync(ran)).toBe(false);
  });

  test("after = too", async () => {
    expect(await pressTab("bash", "rehome keys create --plan=bus")).toBe("--plan=business");
  });
});

describe("zsh", () => {
  test("completes files after =", async () => {
    const line = `rehome keys list --data=${folder.path}/dat`;
    expect(await pressTab("zsh", line)).toBe(`--data=${folder.path}/data`);
  });

  test("completes commands, options, values and files, and runs nothing", async () => {
    for (const [line, expected] of typed()) {
      // zsh takes a slash away again that it has added.
      expect(await pressTab("zsh", line)).toBe(expected.replace(/\/$/, ""));
    }
    for (const [line, expected, end] of label)
      expect(await pressTab("zsh", line, end)).toBe(expected);
    expect(existsSync(ran)).toBe(false);
  });
});

describe("fish", () => {
  const offered = async (line: string) => {
    const script = join(folder.path, "rehome.fish");
    await Bun.write(script, (await rehome(["completion", "fish"])).stdout);
    const child = Bun.spawn(
      ["fish", "--no-config", "-c", `source ${script}; complete -C ${JSON.stringify(line)}`],
      { env, cwd: folder.path, stdout: "pipe", stderr: "pipe" },
    );
    const [text, problems] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect(problems).toBe("");
    return text.split("\n").map((each) => each.split("\t"));
  };

  test("completes commands, options, values and files, and runs nothing", async () => {
    for (const [line, expected] of typed())
      expect((await offered(line)).map(([value]) => value)).toContain(expected);
  });

  test("completes files below ~ and after =", async () => {
    for (const line of ["--data ~/dat", "--data=~/dat", `--data=${folder.path}/dat`]) {
      const [[value = ""] = []] = await offered(`rehome keys list ${line}`);
      expect(value).toEndWith("/data/");
    }
  });

  test("says what each is, and offers nothing of a store", async () => {
    expect(await offered("rehome keys li")).toEqual([
      ["list", "list all keys and their use, without their secrets"],
      [""],
    ]);
    for (const [line] of label) expect(await offered(line)).toEqual([[""]]);
    expect(existsSync(ran)).toBe(false);
  });
});

/**
 * In place of the program when the line is entered: prints the last word as the shell understood
 * it.
 */
const printer = `rehome() {
  if [ "$1" = __complete ]; then command rehome "$@"; return; fi
  for last; do :; done
  printf '<%s>\\n' "$last"
}`;

/**
 * Types `line`, Tab, `end` and Enter at an interactive shell, and resolves with the last word that
 * the shell then has.
 */
async function pressTab(shell: "bash" | "zsh", line: string, end = ""): Promise<string> {
  const script = join(folder.path, `rehome.${shell}`);
  await Bun.write(script, (await rehome(["completion", shell])).stdout);
  const start = { bash: ["bash", "--norc", "--noprofile", "-i"], zsh: ["zsh", "-f", "-i"] }[shell];
  const load = { bash: "", zsh: "autoload -Uz compinit && compinit -u -D; " }[shell];
  const setUp = join(folder.path, `setup.${shell}`);
  await Bun.write(setUp, `${printer}\n${load}source ${script}\nPS1='ready> '\n`);
  const decoder = new TextDecoder();
  // What is typed before the shell listens may be lost, so each step waits for what the one before
  // it shows.
  const steps = [
    ["", `. ${setUp}\n`],
    ["ready> ", `${line}\t${end}\n`],
    ["<", "exit\n"],
  ] as const;
  let [next, seen, screen] = [0, "", ""];
  const child = Bun.spawn([...start], {
    env: { ...env, PS1: "$ " },
    cwd: folder.path,
    terminal: {
      cols: 200,
      rows: 40,
      data(terminal, bytes) {
        const text = decoder.decode(bytes, { stream: true });
        screen += text;
        seen += text;
        const step = steps[next];
        if (step === undefined || !seen.includes(step[0])) return;
        seen = "";
        next += 1;
        terminal.write(step[1]);
      },
    },
  });
  await child.exited;
  child.terminal?.close();
  return /<([^<>]*)>/.exec(screen)?.[1] ?? screen;
}
