/**
 * The console's process of the compiled executable: where it listens, whom it lets near, and that
 * its end is not the interface's.
 */
import { expect, test } from "bun:test";
import { callerOf, until } from "../../test/helpers/ask.ts";
import {
  cleanEnvironment,
  executable,
  makeKey,
  roomy,
  temporaryFolder,
} from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { invite, serveConsole, Visitor, type RunningConsole } from "../../test/helpers/console.ts";
import { childrenOf } from "../../test/helpers/family.ts";
import { rehomeAtTerminal } from "../../test/helpers/terminal.ts";
import { freePort } from "../../test/helpers/free-port.ts";

/** It waits a second before it starts again, and leaves the processor to others. */
const restartMaxMs = 60_000;

/** The process of the console beside a server. */
const consolePid = (server: RunningConsole): number | undefined => childrenOf(server)[0];

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { redirect: "manual" })).status > 0;
  } catch {
    return false;
  }
}

test("a console that is killed is started again at its address, and the interface answers meanwhile", async () => {
  using folder = temporaryFolder();
  await using server = await serveConsole(folder.path);
  const { key } = await makeKey(folder.path, ...roomy);
  const ana = await new Visitor(server.console).join(await invite(folder.path, "Ana", "staff"));
  const former = consolePid(server);
  if (former === undefined) throw new Error("the console has no process");

  process.kill(former, "SIGKILL");
  await until(() => server.stderr().includes("It starts again in"), restartMaxMs);
  expect((await callerOf(server, key).get()).status).toBe(200);
  await until(() => answers(server.console), restartMaxMs);
  expect(consolePid(server)).not.toBe(former);
  // Nobody has to sign in again.
  expect((await ana.get("/animals")).status).toBe(200);
  expect(await server.stop()).toBe(0);
  expect(await answers(server.console)).toBe(false);
});

test("a console goes along when the processes are replaced", async () => {
  using folder = temporaryFolder();
  const args = ["--processes", "2", "--console", `127.0.0.1:${await freePort()}`];
  await using server = await serveConsole(folder.path, args);
  const ana = await new Visitor(server.console).join(await invite(folder.path, "Ana", "staff"));
  await until(() => server.stderr().includes("2 processes serve"));
  process.kill(server.pid, "SIGHUP");
  await until(() => server.stderr().includes("The new processes serve"), restartMaxMs);
  await until(() => answers(server.console), restartMaxMs);
  expect((await ana.get("/animals")).status).toBe(200);
});

test("a server that is killed leaves no console behind", async () => {
  using folder = temporaryFolder();
  const server = await serveConsole(folder.path);
  await server.stop("SIGKILL");
  await until(async () => !(await answers(server.console)), restartMaxMs);
});

test("the first start at a terminal prints a key and an operator's link, and the second none", async () => {
  using folder = temporaryFolder();
  const args = ["serve", "--data", folder.path, "--port", "0", "--console", "127.0.0.1:0"];
  const start = () => rehomeAtTerminal(args, { columns: 120, answers: [["Data", "\u0003"]] });
  const first = await start();
  expect(first.exitCode).toBe(0);
  const screen = Bun.stripANSI(first.screen);
  expect(screen).toMatch(/^ {2}rehome_live_\w{36}$/m);
  expect(screen).toContain("Your own link works once, within 7 days:");
  const [link = ""] = /http:\/\/127\.0\.0\.1:\d+\/join\/[\w-]{43}\b/.exec(screen) ?? [];
  expect(Bun.stripANSI((await start()).screen)).not.toMatch(/rehome_live_|\/join\//);

  await using server = await serveConsole(folder.path);
  const visitor = await new Visitor(server.console).join(
    `${server.console}${new URL(link).pathname}`,
  );
  expect((await visitor.get("/people")).status).toBe(200);
});

test("rehome console is a command of its own, on a port of this machine alone", async () => {
  using folder = temporaryFolder();
  const args = ["--data", folder.path];
  await command(["categories", "add", "Dog", ...args]);
  const child = Bun.spawn([await executable(), "console", "0", ...args, "--json", "--first-link"], {
    stdin: "ignore",
    stdout: "pipe",
    env: cleanEnvironment,
  });
  const { value } = await child.stdout.getReader().read();
  const { url, port, firstLink } = JSON.parse(new TextDecoder().decode(value));
  expect(url).toBe(`http://127.0.0.1:${port}`);
  const olga = await new Visitor(url).join(firstLink);
  expect(await (await olga.get("/categories")).text()).toContain(">Dog</a");
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
});
