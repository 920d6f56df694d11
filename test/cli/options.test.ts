import { describe, expect, test } from "bun:test";
import { commandHere, storeFlags } from "../../src/cli/command.ts";
import { parseText } from "../../src/features/options.ts";
import { run } from "../../src/cli/program.ts";
import { passwordWarning } from "../../src/cli/warnings.ts";
import { loadConfig } from "../../src/config.ts";
import { testIo } from "../helpers/io.ts";

describe("the flags that lead another command to the same store", () => {
  const address = "postgres://rehome:hunter2@db/rehome";

  test.each([
    ["the default folder", {}, {}, []],
    ["a folder", { data: "/srv/a b" }, {}, ["--data", "/srv/a b"]],
    ["a variable's folder", {}, { REHOME_DATA: "/srv/a" }, ["--data", "/srv/a"]],
    ["a file with an address", { "store-file": "/etc/a" }, {}, ["--store-file", "/etc/a"]],
    ["a variable's file", {}, { REHOME_STORE_FILE: "/etc/a" }, ["--store-file", "/etc/a"]],
    ["an address, which is a secret", { store: address }, {}, ["--store", "ADDRESS"]],
    ["a variable's address, which holds for both", {}, { REHOME_STORE: address }, []],
    ["a folder beside it", { data: "/srv/a" }, { REHOME_STORE: address }, ["--data", "/srv/a"]],
  ])("are for %s", (_place, flags, variables, expected) => {
    const env = { XDG_DATA_HOME: "/home/kim/.local/share", ...variables };
    expect(storeFlags(loadConfig(flags, env, []))).toEqual(expected);
  });

  test("are words of a shell", () => {
    const loaded = loadConfig({ data: "/srv/a b" }, {}, []);
    expect(commandHere("rehome usage", loaded)).toBe("rehome usage --data '/srv/a b'");
  });
});

test.each([
  [{ store: "postgres://rehome:hunter2@db/rehome" }, {}, true],
  [{ store: "postgres://rehome@db/rehome" }, {}, false],
  [{}, { REHOME_STORE: "postgres://rehome:hunter2@db/rehome" }, false],
])("a password that %j and %j leave in the history is warned of: %p", (flags, env, isWarned) => {
  const warning = passwordWarning(loadConfig(flags, env, []));
  expect(warning?.includes("history") ?? false).toBe(isWarned);
});

test("a variable that does nothing any more is a warning of every command, and of none an error", async () => {
  const env = { REHOME_LOG_FILE: "/var/log/rehome.log", REHOME_DATA: ":memory:" };
  for (const line of ["config --json", "keys list --json"]) {
    const io = testIo({ env });
    expect(await run(line.split(" "), io)).toBe(0);
    expect(io.said()).toContain("Warning: REHOME_LOG_FILE does nothing any more. ");
  }
});

test("a label of spaces is none", () => {
  expect(() => parseText(" ")).toThrow("It must not be empty.");
  expect(parseText(" a ")).toBe(" a ");
});

test("config shows a list of several flags, what the service sets, and none for nothing", async () => {
  const file = "/etc/default/rehome";
  const variables = new Map([["REHOME_PORT", "81"]]);
  const machine = { ...testIo().machine, service: () => ({ file, variables, account: undefined }) };
  const origins = ["https://a.example", "https://b.example"];
  const flags = origins.flatMap((origin) => ["--cors-origin", origin]);
  const io = testIo({ machine });
  expect(await run(["config", "--json", ...flags], io)).toBe(0);
  expect(JSON.parse(io.printed())).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ setting: "cors-origin", value: origins, file: null }),
      expect.objectContaining({ setting: "port", value: 81, source: "service", file }),
    ]),
  );
  const table = testIo();
  expect(await run(["config"], table)).toBe(0);
  expect(table.printed()).toMatch(/^base-url +none +default$/m);
  expect(table.printed()).toMatch(/^cors-origin +none +default$/m);
});
