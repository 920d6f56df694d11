/** What all commands have in common, on the compiled executable: help, mistakes, exit codes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Command } from "commander";
import { configSchema } from "../../src/features/operate/config.ts";
import { createProgram, pathOf } from "../../src/cli/program.ts";
import {
  cleanEnvironment,
  executable,
  makeKey,
  rehome,
  temporaryFolder,
} from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { freePort } from "../../test/helpers/free-port.ts";
import { testIo } from "../../test/helpers/io.ts";
import { documentedJson } from "../../test/helpers/json-contract.ts";
import { until } from "../../test/helpers/until.ts";

function withChildren(command: Command): Command[] {
  return [command, ...command.createHelp().visibleCommands(command).flatMap(withChildren)];
}
const commands = withChildren(await createProgram(testIo()))
  .filter((command) => command.name() !== "help")
  .map((command) => ({ path: pathOf(command), command }));

/** Runs a command in this process, for what its words alone decide. */
const ran = (args: readonly string[], env: Record<string, string> = {}) => command(args, { env });

describe("help", () => {
  test.each(commands)("$path says what it does, with examples", async ({ path }) => {
    const result = await ran([...path.split(" ").slice(1), "--help"]);
    expect(result).toMatchObject({ exitCode: 0, stderr: "" });
    expect(result.stdout).toStartWith(`Usage: ${path}`);
    expect(result.stdout).toMatch(/^Examples?:\n {2}\S/m);
  });

  test("is what a command without its subcommand gets, as a mistake", async () => {
    for (const args of [[], ["keys"], ["pets"]]) {
      const result = await ran(args);
      expect(result).toMatchObject({ exitCode: 2, stdout: "" });
      expect(result.stderr).toStartWith("Usage: rehome");
    }
  });
});

describe("help COMMAND", () => {
  test.each(["serve", "keys", "keys create", "pets import"])(
    "%s is the help of that command",
    async (line) => {
      const words = line.split(" ");
      const asked = await ran([...words, "--help"]);
      expect(asked).toMatchObject({ exitCode: 0, stderr: "" });
      expect(await ran(["help", ...words])).toEqual(asked);
    },
  );

  test("of one that does not exist is that of the program", async () => {
    expect(await ran(["help", "kyes"])).toEqual(await ran(["--help"]));
  });
});

test("a wrong argument is named with what it must be", async () => {
  expect(await ran(["pets", "show", "Rex"])).toEqual({
    exitCode: 2,
    stdout: "",
    stderr:
      "Error: command-argument value 'Rex' is invalid for argument 'id'. It must be an integer of 64 bits.\nTry: rehome pets show --help\n",
  });
});

describe("a misspelling names the nearest", () => {
  test.each([
    [["kyes"], "unknown command 'kyes'\n(Did you mean keys?)\nTry: rehome --help\n"],
    [
      ["serve", "--prot", "80"],
      "unknown option '--prot'\n(Did you mean --port?)\nTry: rehome serve --help\n",
    ],
    [
      ["keys", "list", "--quite-another"],
      "unknown option '--quite-another'\nTry: rehome keys list --help\n",
    ],
    [
      ["keys", "create", "--plan", "pro"],
      "required option '--name <label>' not specified\nTry: rehome keys create --help\n",
    ],
  ])("%j", async (args, words) => {
    expect(await ran(args)).toEqual({ exitCode: 2, stdout: "", stderr: `Error: ${words}` });
  });

  test.each([
    ["REHOME_PROT", "REHOME_PORT"],
    ["REHOME_BASEURL", "REHOME_BASE_URL"],
    ["REHOME_host", "REHOME_HOST"],
  ])("the variable %s", async (variable, meant) => {
    using folder = temporaryFolder();
    for (const args of [["keys", "list"], ["pets", "list"], ["config"], ["serve"]]) {
      const env = { REHOME_DATA: folder.path, [variable]: "1" };
      expect(await ran(args, env)).toEqual({
        exitCode: 2,
        stdout: "",
        stderr: `Error: The variable ${variable} is not a setting of rehome.\nTry: Name it ${meant}.\n`,
      });
    }
  });

  test("a variable like no setting", async () => {
    const result = await ran(["config"], { REHOME_QUITE_ANOTHER: "1" });
    expect(result.stderr).toEndWith("Try: rehome serve --help\n");
  });
});

describe("config", () => {
  const env = { REHOME_PORT: "9000", REHOME_TRUSTED_PROXY: "10.0.0.0/8, 192.168.1.1" };
  const setting = (stdout: string, name: string) =>
    (documentedJson(configSchema, stdout) as { setting: string }[]).find(
      (each) => each.setting === name,
    );

  test("shows each value and where it comes from", async () => {
    const result = await ran(["config", "--host", "::1", "--json"], env);
    expect(result).toMatchObject({ exitCode: 0, stderr: "" });
    expect(setting(result.stdout, "host")).toMatchObject({ value: "::1", source: "flag" });
    expect(setting(result.stdout, "port")).toMatchObject({
      variable: "REHOME_PORT",
      value: 9000,
      source: "environment",
    });
    expect(setting(result.stdout, "trusted-proxy")).toMatchObject({
      value: ["10.0.0.0/8", "192.168.1.1"],
    });
    expect(setting(result.stdout, "bans")).toMatchObject({ value: "on", source: "default" });
    expect(setting(result.stdout, "base-url")).toMatchObject({ value: null, source: "default" });
  });

  test.each([
    "postgres://kim:s3cret@db/x",
    "postgres://kim:s3:c@ret@db/x?password=s3cret",
    "postgres://kim:s3cret@db/x?sslpassword=s3cret",
    "postgres:kim:s3cret@db/x",
    "postgres:/kim:s3:c@ret@db/x",
    "kim:s3cret@db/x",
    "postgres://ki/m:s3cret@db/x",
  ])("never shows the password of %s", async (address) => {
    for (const args of [["config"], ["config", "--json"], ["config", "--store", address]]) {
      const result = await ran(args, { REHOME_STORE: address });
      expect(result.exitCode).toBe(0);
      expect(result.stdout).toContain(":***@db/x");
      expect(result.stdout).not.toMatch(/s3|c@ret/);
    }
  });

  test("does not repeat what may be a secret and is no setting", async () => {
    const result = await ran(["config", "--backup-ping", "ping.example/SECRET"]);
    expect(result.exitCode).toBe(2);
    expect(result.stderr).not.toContain("SECRET");
  });

  test("makes no data folder", async () => {
    using folder = temporaryFolder();
    const result = await ran(["config", "--data", `${folder.path}/none`]);
    expect(result.stdout).toContain("/none");
    expect(await Bun.file(`${folder.path}/none/rehome.db`).exists()).toBe(false);
  });
});

test.each([
  "usage website --days 90 --json",
  "migrate --data /nowhere",
  "completion bash",
  "completion --help",
])("a command of an earlier version says what to use: %s", async (typed) => {
  const words = typed.split(" ");
  const { exitCode, stdout, stderr } = await command(words);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toMatch(/^Error: There is no command rehome \w+ any more\.\nTry: rehome .+\n$/);
  expect((await command(["--help"])).stdout).not.toMatch(new RegExp(`^ +${words[0]} `, "m"));
});

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
  const output = { stdout: "ignore", stderr: "ignore" } as const;
  const child = Bun.spawn([await executable(), ...args], { env: cleanEnvironment, ...output });
  await asked.promise;
  child.kill(signal);
  await child.exited;
  expect(child.signalCode).toBe(signal);
});

test("a name commands no terminal, in whatever is printed of it", async () => {
  using folder = temporaryFolder();
  const name = "a\u001B[2J\u009B31m\u202Eb\u0007\u2066c";
  const harmless = async (line: string, names: readonly string[], run = command) => {
    const args = [...line.split(" "), ...names];
    const { stdout, stderr } = await run([...args, "--data", folder.path]);
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    expect([args, (stdout + stderr).match(/[^\n\P{Cc}]|[\u202A-\u202E\u2066-\u2069]/gu)]).toEqual([
      args,
      null,
    ]);
    return stdout;
  };
  await harmless("keys create --plan free --name", [name]);
  await harmless("categories add", [name]);
  await harmless("pets add --category 1 --name", [name]);
  await harmless("people invite", [name]);
  for (const line of ["keys list", "usage", "pets list", "pets show 1", "pets history 1"]) {
    for (const json of [[], ["--json"]]) await harmless(line, json);
  }
  for (const json of [[], ["--json"]]) await harmless("keys show", [name, ...json]);
  for (const line of ["categories list", "people list"]) await harmless(line, []);
  // What goes wrong is printed by the program itself.
  for (const line of ["keys list --name", "keys show", "pets list --category"]) {
    await harmless(line, [`${name}x`], rehome);
  }
  const [shown] = JSON.parse(await harmless("keys list", ["--json"])) as { name: string }[];
  expect(shown?.name).toBe(name);
});

describe("standard output", () => {
  test.each([
    ["openapi", "> /dev/full", "no space is left on the disk"],
    ["pets export", "> /dev/full", "no space is left on the disk"],
    ["keys list --json", ">&-", "it is closed"],
  ] as const)("that cannot be written is a failure of %s %s", async (args, into, why) => {
    using folder = temporaryFolder();
    await makeKey(folder.path);
    const env = { REHOME_DATA: folder.path };
    const child = Bun.spawn(["sh", "-c", `"$0" ${args} ${into}`, await executable()], {
      env,
      stderr: "pipe",
    });
    expect(await child.exited).toBe(1);
    expect(await child.stderr.text()).toBe(`Error: Standard output cannot be written: ${why}.\n`);
  });

  test.each(["> /dev/full", ">&-"])(
    "that cannot be written stops no server, and makes none unhealthy: %s",
    async (into) => {
      using folder = temporaryFolder();
      const port = await freePort();
      const env = { REHOME_DATA: folder.path };
      const line = `exec "$0" serve --port ${port} ${into}`;
      await using child = Bun.spawn(["sh", "-c", line, await executable()], {
        env,
        stderr: "pipe",
      });
      await until(() =>
        fetch(`http://127.0.0.1:${port}/ready`).then(
          ({ ok }) => ok,
          () => false,
        ),
      );
      // A monitor that closes it asks for the exit code.
      const health = ["sh", "-c", `"$0" health --port ${port} ${into}`, await executable()];
      expect(await Bun.spawn(health, { env, stderr: "ignore" }).exited).toBe(0);
      child.kill();
      expect(await child.exited).toBe(0);
      expect(await child.stderr.text()).not.toContain("Error");
    },
  );

  const closed = [">&-", "it is closed"] as const;
  const full = ["> /dev/full", "no space is left on the disk"] as const;
  const unread = [">&4", "nobody reads from this pipe"] as const;
  test.each([
    ["keys create --plan free --name x", ...closed, "rehome keys rotate key_"],
    ["keys create --plan free --name x --json", ...unread, "rehome keys rotate key_"],
    ["keys rotate first", ...full, "rehome keys rotate key_"],
    ["keys rotate first --json", ...closed, "rehome keys rotate key_"],
    ["people invite Ana", ...unread, "rehome people link "],
    ["people invite Ana --json", ...full, "rehome people link "],
  ] as const)("that loses the secret of %s %s is a failure", async (args, into, why, advice) => {
    using folder = temporaryFolder();
    await makeKey(folder.path, "--plan", "free", "--name", "first");
    const env = { REHOME_DATA: folder.path };
    // Descriptor 4 is a pipe whose reader has ended.
    const pipe = 'mkfifo "$1"; exec 3<>"$1" 4>"$1"; exec 3>&-';
    const line = `${pipe}; "$0" ${args} ${into}; echo "code $?" >&2`;
    const child = Bun.spawn(["sh", "-c", line, await executable(), `${folder.path}/pipe`], {
      env,
      stderr: "pipe",
    });
    await child.exited;
    const said = await child.stderr.text();
    expect(said).toContain(`lost, because standard output cannot be written: ${why}.\n`);
    expect(said).toContain(`Try: ${advice}`);
    expect(said).toEndWith("\ncode 1\n");
    expect(said.match(/^Error: /gm)).toHaveLength(1);
  });

  describe("with more than a pipe takes at once", () => {
    const folder = temporaryFolder();
    const count = 5_000;
    const ids = Array.from({ length: count }, (_, at) => String(at + 1));
    let update: string[];
    beforeAll(async () => {
      const header = "id,name,categoryId,status\n";
      const stdin = header + ids.map((id) => `${id},Luna,1,available\n`).join("");
      await command(["pets", "import", "-", "--new-ids", "--data", folder.path], { stdin });
      const args = ["pets", "update", ...ids, "--status", "sold", "--json"];
      update = [await executable(), ...args, "--data", folder.path];
    });
    afterAll(() => folder[Symbol.dispose]());

    test("does not hold up a command that is asked to stop", async () => {
      // Nobody reads from descriptor 3.
      const pipe = 'mkfifo "$0"; exec 3<>"$0"; exec "$@" >&3';
      const child = Bun.spawn(["sh", "-c", pipe, join(folder.path, "pipe"), ...update], {
        env: cleanEnvironment,
      });
      await until(async () => {
        const shown = await command(["pets", "show", "1", "--data", folder.path]);
        return shown.stdout.includes("sold");
      });
      child.kill();
      await child.exited;
      expect(child.signalCode).toBe("SIGTERM");
    });

    test("is whole for a reader that begins late", async () => {
      // A pipe of the shell: those of Bun are sockets, which take more.
      const pipe = `{ "$0" "$@"; echo "code $?" >&2; } | { sleep 1.5; cat; }`;
      const child = Bun.spawn(["sh", "-c", pipe, ...update], {
        env: cleanEnvironment,
        stdout: "pipe",
        stderr: "pipe",
      });
      expect(JSON.parse(await child.stdout.text())).toHaveLength(count);
      expect(await child.stderr.text()).toBe("code 0\n");
    });
  });

  test("that is /dev/null on purpose is no failure of keys create", async () => {
    using folder = temporaryFolder();
    const env = { REHOME_DATA: folder.path };
    const args = ["keys", "create", "--plan", "free", "--name", "x"];
    const child = Bun.spawn([await executable(), ...args], {
      env,
      stdio: ["ignore", "ignore", "ignore"],
    });
    expect(await child.exited).toBe(0);
  });

  test.each([
    ["openapi", "{"],
    ["licenses", "r"],
  ])("of %s whose reader has enough is none", async (name, first) => {
    const line = `{ "$0" ${name}; echo "code $?" >&2; } | head -c 1`;
    const child = Bun.spawn(["sh", "-c", line, await executable()], {
      env: cleanEnvironment,
      stdout: "pipe",
      stderr: "pipe",
    });
    expect(await child.stdout.text()).toBe(first);
    expect(await child.stderr.text()).toBe("code 0\n");
  });
});
