/**
 * The staff's console of the compiled executable: who gets in, what they may do, and what attacks
 * come to.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { readXlsx } from "hucre/xlsx";
import { temporaryFolder } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import {
  behindProxy,
  invite,
  serveConsole,
  Visitor,
  type RunningConsole,
} from "../../test/helpers/console.ts";
import { childrenOf } from "../../test/helpers/family.ts";
import { raw } from "../../test/helpers/raw.ts";
import { until } from "../../test/helpers/until.ts";

const folder = temporaryFolder();
let server: RunningConsole;

beforeAll(async () => {
  server = await serveConsole(folder.path, behindProxy);
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  folder[Symbol.dispose]();
});

const visitor = () => new Visitor(server.console);

async function joined(name: string, role: "staff" | "operator" = "staff"): Promise<Visitor> {
  return visitor().join(await invite(folder.path, name, role));
}

describe("an invitation", () => {
  test("is good once, and opening its link takes nothing", async () => {
    const link = await invite(folder.path, "Ana", "staff");
    const { pathname, origin } = new URL(link);
    expect(origin).toBe(server.console);
    expect(await (await visitor().get(pathname)).text()).toContain("Welcome, Ana");
    const ana = await visitor().join(link);
    // What writes it is loaded where it is wanted.
    const book = await readXlsx(await (await ana.get("/export/xlsx")).bytes());
    expect(book.sheets[0]?.rows[0]).toContain("Number at the source");
    const second = await visitor().post(pathname);
    expect(second.status).toBe(404);
    expect(second.headers.getSetCookie()).toEqual([]);
    // Ana opens her link once more: her session goes on, and leads to the animals.
    expect(await (await ana.get(pathname)).text()).toContain(
      '<a href="/animals">I am signed in: open the page</a>',
    );
  });
});

describe("a stranger", () => {
  test("invites nobody with a path that looks like another origin", async () => {
    const oro = await joined("Oro", "operator");
    const cookie = [...oro.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const body = "name=Mallory&role=operator";
    const answer = await raw(
      server.console,
      `POST //evil.example/people HTTP/1.1\r\nHost: ${new URL(server.console).host}\r\n` +
        `Origin: http://evil.example\r\nCookie: ${cookie}\r\nConnection: close\r\n` +
        "Content-Type: application/x-www-form-urlencoded\r\n" +
        `Content-Length: ${body.length}\r\n\r\n${body}`,
    );
    expect(answer.status).toBe(403);
    expect(await (await oro.get("/people")).text()).not.toContain("Mallory");
  });

  test("sends large forms in vain: none is read, and none comes back", async () => {
    const peakMiB = () => {
      const status = readFileSync(`/proc/${childrenOf(server)[0]}/status`, "utf8");
      return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
    };
    const before = peakMiB();
    const ola = await joined("Ola");
    const type = "application/x-www-form-urlencoded";
    const headers = { origin: server.console, "content-type": type };
    // As text: URLSearchParams would take the test minutes where other work runs.
    const form = { method: "POST", headers, body: "=&".repeat(524_288) };
    const send = async () => {
      const response = await fetch(`${server.console}/animals`, form);
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

  test("changes nothing by a form that was on its way when they were removed", async () => {
    const [xenia, yusuf] = [await joined("Xenia", "operator"), await joined("Yusuf", "operator")];
    const ends = [
      xenia.unfinished("/people", "name=Eve&role=operator"),
      xenia.unfinished("/keys/new", "name=eve&plan=free"),
    ];
    // All have been let in when there is room for no other one.
    ends.push(...Array.from({ length: 6 }, () => xenia.unfinished("/animals")));
    await until(async () => (await xenia.post("/animals", { name: "Late" })).status === 503);
    expect(await command(["people", "remove", "Xenia", "--data", folder.path])).toMatchObject({
      exitCode: 0,
    });
    for (const end of ends) expect((await end()).status).toBe(403);
    for (const path of ["/people", "/keys"]) {
      expect(await (await yusuf.get(path)).text()).not.toMatch(/\beve\b/i);
    }
  });

  test("gets no link to another origin by a path that looks like one", async () => {
    const { host } = new URL(server.console);
    for (const path of [
      "//evil.example/x",
      "///evil.example",
      "/\\evil.example/x",
      "/%09/evil.example",
    ]) {
      const request = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      const { body } = await raw(server.console, request);
      const links = [...body.matchAll(/(?:href|action|formaction)="([^"]*)"/g)];
      for (const [, to = ""] of links) {
        expect([path, to, new URL(to, server.console).origin]).toEqual([path, to, server.console]);
      }
    }
  });

  test("asks for an odd target and gets a refusal, in one line of the log", async () => {
    using other = temporaryFolder();
    await using own = await serveConsole(other.path);
    const { host } = new URL(own.console);
    const targets = [
      "CONNECT evil.example:443",
      "CONNECT /",
      "TRACE /",
      "GET //",
      "OPTIONS /animals",
    ];
    for (const target of targets) {
      const request = `${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      const { status } = await raw(own.console, request);
      expect([target, status >= 400 && status < 500]).toEqual([target, true]);
    }
    const lines = own.stderr().trim().split("\n").filter(Boolean);
    expect(lines.length).toBeLessThanOrEqual(targets.length);
    expect(own.stderr()).not.toContain("    at ");
  });
});
