/** What is told of a process that fails, by a program that stands for rehome. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../../test/helpers/binary.ts";

const child = join(import.meta.dir, "../../src/features/schedule/child.ts");

test("the process of a job is told by its first error, by its end, or by why it did not start", async () => {
  using folder = temporaryFolder();
  const program = join(folder.path, "program.ts");
  await Bun.write(
    program,
    `import { runJob } from ${JSON.stringify(child)};
    const [how] = process.argv.slice(2);
    if (how === "fail") {
      process.stderr.write("A remark.\\nError: The disk is full.\\nTry: rm\\n" + "x".repeat(1e6));
      process.exitCode = 1;
    } else if (how === "die") process.kill(process.pid, "SIGKILL");
    else if (how === "grow") setInterval(() => {}, 1_000);
    else if (how === undefined) {
      const words = (target) => [target];
      const told = [];
      for (const target of ["fail", "die"]) told.push(await runJob({ words }, target, process.env));
      told.push(await runJob({ words }, "end", process.env) ?? "ended");
      told.push(await runJob({ words, memoryMaxBytes: 1 }, "grow", process.env));
      told.push(await runJob({ words }, "end", { BAD: "\\0" }));
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
