/** The completion scripts in the shells that they are for. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { executable, makeKey, rehome, temporaryFolder } from "../../test/helpers/binary.ts";

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

/** Lines, each with the word that it ends with. */
const cases = (...more: (readonly [line: string, expected: string])[]) => [
  ...typed().map(([line, expected]) => [line, expected, ""] as const),
  ...label,
  ...more.map(([line, expected]) => [line, expected, ""] as const),
];

test("bash completes commands, options, values and files, after = too, and runs nothing", async () => {
  const all = cases(["rehome keys create --plan=bus", "--plan=business"]);
  const words = await pressTab(
    "bash",
    all.map(([line, , end]) => [line, end]),
  );
  expect(words).toEqual(all.map(([, expected]) => expected));
  expect(existsSync(ran)).toBe(false);
});

test("zsh completes commands, options, values and files, after = too, and runs nothing", async () => {
  const file = `--data=${folder.path}/data`;
  const all = cases([`rehome keys list ${file.slice(0, -1)}`, file]);
  const words = await pressTab(
    "zsh",
    all.map(([line, , end]) => [line, end]),
  );
  // zsh takes a slash away again that it has added.
  expect(words).toEqual(all.map(([, expected]) => expected.replace(/\/$/, "")));
  expect(existsSync(ran)).toBe(false);
});

describe("fish", () => {
  const script = join(folder.path, "rehome.fish");
  beforeAll(
    async () => void (await Bun.write(script, (await rehome(["completion", "fish"])).stdout)),
  );
  const offered = async (line: string) => {
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

/** A line, and what is typed after Tab. */
type Typed = readonly [line: string, end?: string];

/**
 * Types each line, Tab, its end and Enter at an interactive shell, and resolves with the last word
 * of each, as the shell then has it.
 */
async function pressTab(shell: "bash" | "zsh", lines: readonly Typed[]): Promise<string[]> {
  const script = join(folder.path, `rehome.${shell}`);
  await Bun.write(script, (await rehome(["completion", shell])).stdout);
  const start = { bash: ["bash", "--norc", "--noprofile", "-i"], zsh: ["zsh", "-f", "-i"] }[shell];
  const load = { bash: "", zsh: "autoload -Uz compinit && compinit -u -D; " }[shell];
  const setUp = join(folder.path, `setup.${shell}`);
  await Bun.write(setUp, `${printer}\n${load}source ${script}\nPS1='ready> '\n`);
  const decoder = new TextDecoder();
  // What is typed before the shell listens may be lost, so each step waits for what the one before
  // it shows.
  const steps: [shown: RegExp, typed: string][] = [
    [/^/, `. ${setUp}\n`],
    ...lines.map(([line, end = ""], at): [RegExp, string] => [
      at === 0 ? /ready> / : /<[^<>]*>[^]*ready> /,
      `${line}\t${end}\n`,
    ]),
    [/<[^<>]*>[^]*ready> /, "exit\n"],
  ];
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
        if (step === undefined || !step[0].test(seen)) return;
        seen = "";
        next += 1;
        terminal.write(step[1]);
      },
    },
  });
  await child.exited;
  child.terminal?.close();
  const words = [...screen.matchAll(/<([^<>]*)>/g)].map(([, word = ""]) => word);
  return words.length === lines.length ? words : [screen];
}
