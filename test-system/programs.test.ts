/** What only another process shows: a shell, a pipe, a program of this code, one that fails. */
import { expect, test } from "bun:test";
import { openSync } from "node:fs";
import { join } from "node:path";
import { hourMs } from "../src/domain/clock.ts";
import { shellWord } from "../src/domain/errors.ts";
import { noAnswers } from "../src/features/console/import-work.ts";
import { inProcess } from "../src/features/console/imports.ts";
import { sourceActions } from "../src/features/console/pages/sources.ts";
import { follow } from "../src/features/sources/pull.ts";
import { Logger } from "../src/service/log.ts";
import { temporaryFolder } from "../test/helpers/binary.ts";
import { servicesOn } from "../test/helpers/services.ts";
import { openTestStore } from "../test/helpers/store-under-test.ts";
import { until } from "../test/helpers/ask.ts";

// As the process that reads a list, this file never ends by itself.
if (process.argv.includes("__import")) await new Promise(() => setInterval(() => undefined, 1e6));

const root = join(import.meta.dir, "..");

/** The modules that a process has loaded once `rehome WORD` has run in it. */
async function loadedBy(word: string): Promise<readonly string[]> {
  const script = `
    import { run } from "${root}/src/cli/program.ts";
    import { testIo } from "${root}/test/helpers/io.ts";
    await run([${JSON.stringify(word)}], testIo());
    process.stdout.write(JSON.stringify(Object.keys(require.cache)));`;
  return (await Bun.$`${process.execPath} -e ${script}`.cwd(root).quiet().json()) as string[];
}

// What serves nothing must not load it: it would take ten times as long to start.
test.each(["--version", "--help", "nonsense"])(
  "%s loads neither the server nor the web framework, and --version no command",
  async (word) => {
    const loaded = await loadedBy(word);
    expect(loaded).toContain(join(root, "src/cli/program.ts"));
    const server = /\/node_modules\/elysia\/|\/src\/http\/app\.ts$|\/src\/cli\/serving\.ts$/;
    const commands = word === "--version" ? /\/src\/cli\/serve\.ts$/ : server;
    expect(loaded.filter((path) => server.test(path) || commands.test(path))).toEqual([]);
  },
);

test("a shell reads any text as one word, without quotes where it needs none", () => {
  const texts = ["", "plain", "/var/lib/a shelter", "kim's", "$HOME", "a;b", "*", "~", "ü\n"];
  const { stdout } = Bun.spawnSync(["sh", "-c", `printf "[%s]" ${texts.map(shellWord).join(" ")}`]);
  expect(stdout.toString()).toBe(texts.map((text) => `[${text}]`).join(""));
  expect(shellWord("/var/lib/rehome-1,a=b:c@d%+")).toBe("/var/lib/rehome-1,a=b:c@d%+");
});

test("no list is fetched through a proxy of the environment, which would see its secrets", async () => {
  using server = Bun.serve({ port: 0, fetch: () => new Response("Name\nRex\n") });
  const script = `
    import { fetchList } from "${root}/src/features/sources/fetch.ts";
    const limits = { allowPrivate: true, clock: () => 0 };
    const found = await fetchList({ url: "${server.url.href}" }, limits);
    console.log(found.bytes.length);`;
  const child = Bun.spawn([process.execPath, "-e", script], {
    env: { ...process.env, NO_PROXY: "", no_proxy: "", http_proxy: "http://127.0.0.1:9" },
    stdout: "pipe",
  });
  expect(await child.stdout.text()).toBe("9\n");
});

test("a pipe that nobody reads holds nobody up; what does not fit is dropped, counted and told", async () => {
  using folder = temporaryFolder();
  const [path, into] = ["pipe", "read"].map((name) => join(folder.path, name)) as [string, string];
  expect(Bun.spawnSync(["mkfifo", path]).exitCode).toBe(0);
  // Opened to read and write, so that opening waits for nobody.
  const fd = openSync(path, "r+");
  const log = new Logger({ level: "info", format: "text", clock: Date.now, fd });
  const line = "x".repeat(999);
  const count = 8_000;
  for (let i = 0; i < count; i += 1) log.write(line);
  expect(log.droppedTotal).toBeGreaterThan(0);

  // A reader in a process of its own: to read here would hold up who writes.
  const reader = Bun.spawn(["cat", path], { stdout: Bun.file(into), stderr: "ignore" });
  await log.close(20_000);
  const read = () => Bun.file(into).text();
  await until(async () => (await read()).includes("dropped"));
  reader.kill();
  const lines = (await read()).trimEnd().split("\n");
  const lost = count - (lines.length - 1);
  const told = lines.filter((each) => each !== line);
  expect(told).toEqual([expect.stringContaining(` ${lost} log lines were dropped`)]);
  // What was told of stays counted: a monitor looks at it seldom.
  expect(log.droppedTotal).toBe(lost);
});

test("a reading that takes longer than its bound is ended, and says so", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "list");
  await Bun.write(file, "name,categoryId,status\nRex,1,sold\n");
  const problems: string[] = [];
  const started = inProcess(process.env, (problem) => problems.push(problem), 1);
  const { outcome } = started({ file, name: "slow.csv", answers: noAnswers });
  expect(await outcome).toEqual({ is: "failed", failure: { code: "importTooLong" } });
  expect(problems).toEqual([]);
});

test("a pull whose process ends in an error has failed, and is over", async () => {
  const store = await openTestStore({ clock: Date.now });
  const source = { name: "north", reading: {}, createdBy: "Ana", createdAtMs: Date.now() };
  await store.db.transaction((tx) => follow(tx, source, hourMs, Date.now()));
  // Its process is one of this file: without a runner of tests, an error.
  const sources = sourceActions(servicesOn(store), {});
  await sources.pull("north");
  expect(sources.isPulling("north")).toBe(false);
  const [{ job } = {}] = await sources.list();
  expect(job).toMatchObject({ failures: 1, problem: { text: "The process ended with code 1." } });
});

test("the process of a job is told by its first error, by its end, or by why it did not start", async () => {
  using folder = temporaryFolder();
  const program = join(folder.path, "program.ts");
  await Bun.write(
    program,
    `import { runJob } from "${root}/src/features/schedule/child.ts";
    const [how] = process.argv.slice(2);
    if (how === "fail") {
      process.stderr.write("A remark.\\nError: The disk is full.\\nTry: rm\\n" + "x".repeat(1e6));
      process.exitCode = 1;
    } else if (how === "die") process.kill(process.pid, "SIGKILL");
    else if (how === "grow") setInterval(() => {}, 1_000);
    else if (how === undefined) {
      const told = [];
      for (const word of ["fail", "die"]) told.push(await runJob([word], process.env));
      told.push(await runJob(["end"], process.env) ?? "ended");
      told.push(await runJob(["grow"], process.env, undefined, undefined, 1));
      told.push(await runJob(["end"], { BAD: "\\0" }));
      console.log(JSON.stringify(told));
    }`,
  );
  const { stdout } = Bun.spawn([process.execPath, program], { stderr: "inherit" });
  expect(await new Response(stdout).json()).toEqual([
    "The disk is full.",
    "The process ended with SIGKILL.",
    "ended",
    "The process took too much memory, so it was ended.",
    expect.stringMatching(/^The process did not start: /),
  ]);
});
