/** The servers that the bench starts, and how they end with it. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { cleanEnvironment, executable, temporaryFolder } from "../helpers/binary.ts";
import { isRunning, kill } from "../helpers/family.ts";
import { until } from "../helpers/until.ts";

test.each(["SIGINT", "SIGTERM"])("%s to the bench alone ends its servers too", async (signal) => {
  using folder = temporaryFolder();
  const command = [await executable(), "serve", "--data", folder.path];
  const code = `
    import { freePort, startServer } from ${JSON.stringify(join(import.meta.dir, "../../bench/process.ts"))};
    const port = await freePort();
    const server = await startServer({
      command: [...${JSON.stringify(command)}, "--port", String(port)],
      port,
      pinned: false,
      stderrFile: ${JSON.stringify(join(folder.path, "stderr"))},
    });
    process.stdout.write(String(server.pid));
    process.kill(process.pid, "${signal}");
    await Bun.sleep(60_000);`;
  const bench = Bun.spawn([process.execPath, "-e", code], {
    env: cleanEnvironment,
    stdout: "pipe",
  });
  expect(await bench.exited).not.toBe(0);
  const pid = Number(await bench.stdout.text());
  expect(pid).toBeGreaterThan(0);
  try {
    await until(() => !isRunning(pid));
  } finally {
    kill(pid);
  }
});
