/**
 * The staff's console of the compiled executable: who gets in, what they may do, and what attacks
 * come to.
 */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { readXlsx } from "hucre/xlsx";
import { temporaryFolder } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { consoleForAll, serveConsole } from "../../test/helpers/console.ts";
import { childrenOf } from "../../test/helpers/family.ts";
import { raw } from "../../test/helpers/raw.ts";
import { until } from "../../test/helpers/until.ts";

const own = consoleForAll();
const { joined } = own;

test("a workbook is exported: what writes it is loaded where it is wanted", async () => {
  const ana = await joined("Ana");
  const book = await readXlsx(await (await ana.get("/export/xlsx")).bytes());
  expect(book.sheets[0]?.rows[0]).toContain("Number at the source");
});

test("a stranger invites nobody with a path that looks like another origin", async () => {
  const oro = await joined("Oro", "operator");
  const cookie = [...oro.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const body = "name=Mallory&role=operator";
  const answer = await raw(
    own.server.console,
    `POST //evil.example/people HTTP/1.1\r\nHost: ${new URL(own.server.console).host}\r\n` +
      `Origin: http://evil.example\r\nCookie: ${cookie}\r\nConnection: close\r\n` +
      "Content-Type: application/x-www-form-urlencoded\r\n" +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  expect(answer.status).toBe(403);
  expect(await (await oro.get("/people")).text()).not.toContain("Mallory");
});

test("a stranger sends large forms in vain: none is read, and none comes back", async () => {
  const peakMiB = () => {
    const status = readFileSync(`/proc/${childrenOf(own.server)[0]}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
  };
  const before = peakMiB();
  const ola = await joined("Ola");
  const type = "application/x-www-form-urlencoded";
  const headers = { origin: own.server.console, "content-type": type };
  // As text: URLSearchParams would take the test minutes where other work runs.
  const form = { method: "POST", headers, body: "=&".repeat(524_288) };
  const send = async () => {
    const response = await fetch(`${own.server.console}/animals`, form);
    return { status: response.status, bytes: (await response.arrayBuffer()).byteLength };
  };
  const all = await Promise.all(Array.from({ length: 40 }, send));
  for (const { status, bytes } of all) {
    expect(status).toBe(401);
    expect(bytes).toBeLessThan(64 * 1024);
  }
  expect((await ola.get("/animals")).status).toBe(200);
  expect(peakMiB() - before).toBeLessThan(100);
});

test("a stranger changes nothing by a form that was on its way when they were removed", async () => {
  const [xenia, yusuf] = [await joined("Xenia", "operator"), await joined("Yusuf", "operator")];
  const ends = [
    xenia.unfinished("/people", "name=Eve&role=operator"),
    xenia.unfinished("/keys/new", "name=eve&plan=free"),
  ];
  // All have been let in when there is room for no other one.
  ends.push(...Array.from({ length: 6 }, () => xenia.unfinished("/animals")));
  await until(async () => (await xenia.post("/animals", { name: "Late" })).status === 503);
  expect(await command(["people", "remove", "Xenia", "--data", own.path])).toMatchObject({
    exitCode: 0,
  });
  for (const end of ends) expect((await end()).status).toBe(403);
  for (const path of ["/people", "/keys"]) {
    expect(await (await yusuf.get(path)).text()).not.toMatch(/\beve\b/i);
  }
});

test("a stranger gets no link to another origin by a path that looks like one", async () => {
  const { host } = new URL(own.server.console);
  for (const path of [
    "//evil.example/x",
    "///evil.example",
    "/\\evil.example/x",
    "/%09/evil.example",
  ]) {
    const request = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    const { body } = await raw(own.server.console, request);
    const links = [...body.matchAll(/(?:href|action|formaction)="([^"]*)"/g)];
    for (const [, to = ""] of links) {
      expect([path, to, new URL(to, own.server.console).origin]).toEqual([
        path,
        to,
        own.server.console,
      ]);
    }
  }
});

test("a stranger asks for an odd target and gets a refusal, in one line of the log", async () => {
  using other = temporaryFolder();
  await using server = await serveConsole(other.path);
  const { host } = new URL(server.console);
  const targets = [
    "CONNECT evil.example:443",
    "CONNECT /",
    "TRACE /",
    "GET //",
    "OPTIONS /animals",
  ];
  for (const target of targets) {
    const request = `${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    const { status } = await raw(server.console, request);
    expect([target, status >= 400 && status < 500]).toEqual([target, true]);
  }
  const lines = server.stderr().trim().split("\n").filter(Boolean);
  expect(lines.length).toBeLessThanOrEqual(targets.length);
  expect(server.stderr()).not.toContain("    at ");
});
