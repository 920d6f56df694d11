/** What of a command only a process shows: signals, pipes, and what cannot be written. */
import { describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import {
  begun,
  cleanEnvironment,
  executable,
  makeKey,
  temporaryFolder,
} from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { finished } from "../../test/helpers/finished.ts";
import { freePort } from "../../test/helpers/free-port.ts";
import { rehomeAtTerminal } from "../../test/helpers/terminal.ts";

test.each(["SIGINT", "SIGTERM"] as const)("%s ends a command at once", async (signal) => {
  const asked = Promise.withResolvers<void>();
  using server = Bun.serve({
    port: 0,
    fetch() {
      asked.resolve();
      return Response.json({ code: "unavailable", message: "Not ready." }, { status: 503 });
    },
  });
  const args = ["health", "--port", `${server.port}`, "--wait", "1h"];
  const child = await begun(args);
  await asked.promise;
  child.kill(signal);
  await child.exited;
  expect(child.signalCode).toBe(signal);
});

test.each([
  ["yes", "y\n", 0, "revoked"],
  ["the end of the input", "\u0004", 1, "active"],
  ["Ctrl-C", "\u0003", 130, "active"],
])("a question at a terminal is answered by %s", async (_, typed, code, state) => {
  using folder = temporaryFolder();
  const env = { REHOME_DATA: folder.path };
  const { id } = await makeKey(folder.path, "--plan", "free", "--name", "asked");
  const { exitCode, screen } = await rehomeAtTerminal(["keys", "revoke", id], {
    env,
    answers: [["for good? [y/N] ", typed]],
  });
  expect([exitCode, screen]).toEqual([
    code,
    expect.stringContaining(`End ${id} "asked" for good?`),
  ]);
  const { stdout } = await command(["keys", "show", id, "--json"], { env });
  expect(JSON.parse(stdout)).toMatchObject({ state });
});

/** Runs a line of bash, where descriptor 4 is a pipe that nobody reads. */
async function shell(line: string, folder: string) {
  const unread = `mkfifo '${folder}/pipe'; exec 3<>'${folder}/pipe' 4>'${folder}/pipe'; exec 3>&-`;
  symlinkSync(await executable(), join(folder, "rehome"));
  const PATH = `${folder}:${cleanEnvironment.PATH}`;
  const env = { ...cleanEnvironment, PATH, REHOME_DATA: join(folder, "data") };
  return finished(["bash", "-o", "pipefail", "-c", `${unread}; ${line}`], { env });
}

describe("standard output", () => {
  const full = "no space is left on the disk";
  const unread = "nobody reads from this pipe";
  const rotate = "Try: rehome keys rotate key_";
  test.each([
    ["openapi > /dev/full", full, ""],
    ["keys create --plan free --name x --json >&4", unread, rotate],
    ["keys rotate first > /dev/full", full, rotate],
    ["people invite Ana >&4", unread, "Try: rehome people link "],
  ])(
    "that cannot be written fails %s, with what to do about a secret",
    async (args, why, advice) => {
      using folder = temporaryFolder();
      await makeKey(join(folder.path, "data"), "--plan", "free", "--name", "first");
      const { exitCode, stderr } = await shell(`rehome ${args}`, folder.path);
      expect(exitCode).toBe(1);
      expect(stderr).toContain(`tandard output cannot be written: ${why}.\n`);
      expect(stderr).toContain(advice);
      expect(stderr.match(/^Error: /gm)).toHaveLength(1);
    },
  );

  test.each([
    ["pets export | head -c 1", "["],
    ["keys create --plan free --name x > /dev/null", ""],
    ["pets update {1..5000} --status sold --json | { sleep 0.3; grep -c id; }", "5000\n"],
  ])("is whole, or as long as its reader wants: %s", async (line, stdout) => {
    using folder = temporaryFolder();
    const stdin = `name,categoryId,status\n${"Luna,1,available\n".repeat(5_000)}`;
    const data = ["--data", join(folder.path, "data")];
    await command(["pets", "import", "-", ...data], { stdin });
    expect(await shell(`rehome ${line}`, folder.path)).toMatchObject({ exitCode: 0, stdout });
  });

  test("that cannot be written stops no server, and makes none unhealthy", async () => {
    using folder = temporaryFolder();
    const port = await freePort();
    const into = "> /dev/full";
    const { exitCode, stderr } = await shell(
      `rehome serve --port ${port} ${into} & rehome health --port ${port} --wait 60s ${into}
      echo $? >&2; kill $(jobs -p); wait $!`,
      folder.path,
    );
    expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining("Error")]);
    expect(stderr).toMatch(/^0$/m);
  });
});
