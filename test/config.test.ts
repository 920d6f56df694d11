/** Settings: what they take, where they come from, and what is said of them. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandHere, storeFlags, featureSettings } from "../src/cli/command.ts";
import { addressIn } from "../src/cli/open.ts";
import { run } from "../src/cli/program.ts";
import { passwordWarning } from "../src/cli/serve.ts";
import * as config from "../src/config.ts";
import { features } from "../src/features/index.ts";
import { listenAddress } from "../src/features/operate/settings.ts";
import { parseText } from "../src/features/options.ts";
import { temporaryFolder } from "./helpers/binary.ts";
import { testIo } from "./helpers/io.ts";

const { settings } = config;
type Texts = Record<string, string>;
const load = (flags: Texts, env: Texts = {}) => config.loadConfig(flags, env, []);
const secretAddress = "postgres://rehome:hunter2@db/rehome";

test.each([
  [{ HOME: "/home/kim" }, "/home/kim/.local/share/rehome"],
  [{ HOME: "/home/kim", XDG_DATA_HOME: "/srv/kim" }, "/srv/kim/rehome"],
  [{}, config.serviceDataFolder],
  // Empty or relative is as good as not set: data must not lie in whatever folder one stands in.
  [{ HOME: "" }, config.serviceDataFolder],
  [{ HOME: "/home/kim", XDG_DATA_HOME: "" }, "/home/kim/.local/share/rehome"],
  [{ HOME: "/home/kim", XDG_DATA_HOME: "data" }, "/home/kim/.local/share/rehome"],
])("with %j data that nobody named are in %s", (env, folder) =>
  expect(config.defaultDataFolder(env)).toBe(folder),
);

describe("a store that is named twice", () => {
  const [data, store, file] = ["/srv/kim", "postgres://a/b", "/etc/store"];
  const env = { REHOME_STORE: store, REHOME_STORE_FILE: file };

  test.each([
    [{ data, store }, {}, "--data and --store name two stores; use one."],
    [{ data, "store-file": file }, {}, "--data and --store-file name two stores; use one."],
    [{ store, "store-file": file }, {}, "--store and --store-file name two stores; use one."],
    [{}, env, "REHOME_STORE and REHOME_STORE_FILE are both set; use one."],
  ])("%j, %j is refused", (flags, variables, message) =>
    expect(() => load(flags, variables)).toThrow(message),
  );

  test("is the one that a flag names, over the environment", () => {
    const none = { store: undefined, storeFile: undefined };
    expect(load({ data }, env).config).toMatchObject({ ...none, data });
    expect(load({ store }, env).config).toMatchObject({ ...none, store });
  });
});

test("a setting that went is a warning in each place, no value is looked at, and none is one of today", async () => {
  const variables = new Map([["REHOME_REUSE_PORT", ""]]);
  const env = { REHOME_LOG_FILE: "", REHOME_REUSE_PORT: "perhaps" };
  const service = { file: "/etc/default/rehome", variables };
  const flags = { "log-file": "/nowhere", port: "1" };
  const loaded = config.loadConfig(flags, env, [], service);
  expect(loaded.config.port).toBe(1);
  expect(loaded.retired.map((each) => each.split(" does nothing any more. ")[0])).toEqual([
    "--log-file",
    "REHOME_LOG_FILE",
    "REHOME_REUSE_PORT",
    "REHOME_REUSE_PORT in /etc/default/rehome",
  ]);
  const today = [...Object.values(settings), ...featureSettings(features)].map(({ flag }) => flag);
  expect(new Set(today).size).toBe(today.length);
  expect(config.retiredSettings.filter(({ flag }) => today.includes(flag))).toEqual([]);
  for (const line of ["config --json", "keys list --json"]) {
    const io = testIo({ env: { REHOME_LOG_FILE: "/var/log", REHOME_DATA: ":memory:" } });
    expect(await run(line.split(" "), io)).toBe(0);
    expect(io.said()).toContain("Warning: REHOME_LOG_FILE does nothing any more. ");
  }
});

test("a variable that is no setting is refused in the service's file too", () => {
  const service = { file: "/etc/default/rehome", variables: new Map([["REHOME_PROT", "80"]]) };
  const message = "The variable REHOME_PROT in /etc/default/rehome is not a setting of rehome.";
  expect(() => config.loadConfig({}, {}, [], service)).toThrow(
    expect.objectContaining({ message, hint: "rehome serve --help" }),
  );
});

test("the setting of a feature is typed, its flag beats the environment, and without it it is unknown", () => {
  const side = listenAddress("side-listener", "serve something there");
  const env = { REHOME_SIDE_LISTENER: "[::1]:9000", REHOME_PORT: "9001" };
  const loaded = config.loadConfig({}, env, [side]);
  expect(loaded.valueOf(side)).toEqual({ host: "::1", port: 9000 });
  expect([loaded.config.port, loaded.valueOf(settings.port)]).toEqual([9001, 9001]);
  const flagged = config.loadConfig({ "side-listener": "127.0.0.1:80" }, env, [side]);
  expect(flagged.valueOf(side)).toEqual({ host: "127.0.0.1", port: 80 });
  const wrong = { "side-listener": "nowhere" };
  expect(() => config.loadConfig(wrong, env, [side])).toThrow(/^--side-listener must be/);
  expect(() => load({}, env)).toThrow(/REHOME_SIDE_LISTENER is not a setting/);
  expect(() => load({}).valueOf(side)).toThrow();
});

const { baseUrl, firstKey: toggle } = config.settings;
const number = config.integer("n", "N", "a number", { default: 1, min: 1, max: 60 });
const host = config.host("host", "where to listen", "127.0.0.1");
test.each<[string, { parse(text: string): unknown }, unknown]>([
  ["https://a.example/v1", baseUrl, "https://a.example/v1"],
  ["http://127.0.0.1:8080/v1", baseUrl, "http://127.0.0.1:8080/v1"],
  ["https://a.example/pets-api/v1", baseUrl, "https://a.example/pets-api/v1"],
  // What stands in a header between < and > (RFC 8288, section 3), and what no header can hold.
  ["https://a.example/x>y/v1", baseUrl, "https://a.example/x%3Ey/v1"],
  ["https://例え.example/é/v1", baseUrl, "https://xn--r8jz45g.example/%C3%A9/v1"],
  ["1", number, 1],
  ["60", number, 60],
  ["[::1]", host, "::1"],
  ["::1", host, "::1"],
  ["127.0.0.1", host, "127.0.0.1"],
  ["[shelter.example]", host, "[shelter.example]"],
  ["true", toggle, true],
  ["0", toggle, false],
  ["https://a.example,http://b:3000", settings.corsOrigin, ["https://a.example", "http://b:3000"]],
  ["*", settings.corsOrigin, ["*"]],
])("%j as %o is %p", (text, { parse }, value) => expect(parse(text)).toEqual(value));

test.each<[{ parse(text: string): unknown }, string]>([
  [baseUrl, "a.example/v1 ftp://a.example/v1 https://a.example/v1/ https://a.example/v1?x"],
  [baseUrl, "https:///v1 https://user@a.example/v1"],
  [number, " 0 61 1e1"],
  [host, ""],
  [toggle, " True"],
  // A web origin is exact, and * is all of them: no pattern would match.
  [settings.corsOrigin, "https://*.example.org https://* ** *,https://a.example *,*"],
])("%o is none of: %s", ({ parse }, texts) =>
  expect(texts.split(" ").filter((text) => parse(text) !== undefined)).toEqual([]),
);

test.each([
  ["the default folder", {}, {}, []],
  ["a folder", { data: "/srv/a b" }, {}, ["--data", "/srv/a b"]],
  ["a variable's folder", {}, { REHOME_DATA: "/srv/a" }, ["--data", "/srv/a"]],
  ["a file with an address", { "store-file": "/etc/a" }, {}, ["--store-file", "/etc/a"]],
  ["a variable's file", {}, { REHOME_STORE_FILE: "/etc/a" }, ["--store-file", "/etc/a"]],
  ["an address, which is a secret", { store: secretAddress }, {}, ["--store", "ADDRESS"]],
  ["a variable's address, which holds for both", {}, { REHOME_STORE: secretAddress }, []],
  ["a folder beside it", { data: "/srv/a" }, { REHOME_STORE: "x" }, ["--data", "/srv/a"]],
])("flags lead another command to %s", (_place, flags, variables, expected) => {
  const env = { XDG_DATA_HOME: "/home/kim/.local/share", ...variables };
  expect(storeFlags(load(flags, env))).toEqual(expected);
  if (_place !== "a folder") return;
  expect(commandHere("rehome usage", load(flags))).toBe("rehome usage --data '/srv/a b'");
});

test.each([
  [{ store: secretAddress }, {}, true],
  [{ store: "postgres://rehome@db/rehome" }, {}, false],
  [{}, { REHOME_STORE: secretAddress }, false],
])("a password that %j and %j leave in the history is warned of: %p", (flags, env, isWarned) => {
  expect(passwordWarning(load(flags, env))?.includes("history") ?? false).toBe(isWarned);
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
  const io = testIo({ machine });
  const flags = origins.flatMap((origin) => ["--cors-origin", origin]);
  expect(await run(["config", "--json", ...flags], io)).toBe(0);
  expect(JSON.parse(io.printed())).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ setting: "cors-origin", value: origins, file: null }),
      expect.objectContaining({ setting: "port", value: 81, source: "service", file }),
    ]),
  );
  const table = testIo();
  expect(await run(["config"], table)).toBe(0);
  for (const name of ["base-url", "cors-origin"]) {
    expect(table.printed()).toMatch(new RegExp(`^${name} +none +default$`, "m"));
  }
});

test("a file with more than one line holds no address", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "store");
  writeFileSync(file, `${secretAddress}\n`);
  expect(await addressIn(file, "store-file")).toBe(secretAddress);
  writeFileSync(file, `${secretAddress}\n# a note\n`);
  expect(addressIn(file, "store-file")).rejects.toThrow(`The file ${file} has more than one line.`);
});
