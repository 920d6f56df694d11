import { describe, expect, test } from "bun:test";
import { features } from "../src/features/index.ts";
import { featureSettings } from "../src/cli/options.ts";
import {
  baseAddress,
  defaultDataFolder,
  host,
  integer,
  loadConfig,
  retiredSettings,
  serviceDataFolder,
  settings,
  toggle,
} from "../src/config.ts";
import { listenAddress } from "../src/features/operate/settings.ts";

describe("the data folder that nobody named", () => {
  test.each([
    [{ HOME: "/home/kim" }, "/home/kim/.local/share/rehome"],
    [{ HOME: "/home/kim", XDG_DATA_HOME: "/srv/kim" }, "/srv/kim/rehome"],
    [{}, serviceDataFolder],
    // Empty or relative is as good as not set: data must not lie in whatever folder one stands in.
    [{ HOME: "" }, serviceDataFolder],
    [{ HOME: "/home/kim", XDG_DATA_HOME: "" }, "/home/kim/.local/share/rehome"],
    [{ HOME: "/home/kim", XDG_DATA_HOME: "data" }, "/home/kim/.local/share/rehome"],
  ])("%j", (env, folder) => expect(defaultDataFolder(env)).toBe(folder));
});

describe("a store that is named twice is refused", () => {
  const load = (flags: Record<string, string>, env = {}) => loadConfig(flags, env, []);
  const [data, store, file] = ["/srv/kim", "postgres://a/b", "/etc/store"];

  test.each([
    [{ data, store }, "--data and --store name two stores; use one."],
    [{ data, "store-file": file }, "--data and --store-file name two stores; use one."],
    [{ store, "store-file": file }, "--store and --store-file name two stores; use one."],
  ])("%j", (flags, message) => expect(() => load(flags)).toThrow(message));

  test("in the environment", () => {
    const env = { REHOME_STORE: store, REHOME_STORE_FILE: file };
    expect(() => load({}, env)).toThrow(
      "REHOME_STORE and REHOME_STORE_FILE are both set; use one.",
    );
    // A flag says which one is meant.
    expect(load({ data }, env).config).toMatchObject({
      data,
      store: undefined,
      storeFile: undefined,
    });
    expect(load({ store }, env).config).toMatchObject({ store, storeFile: undefined });
  });
});

test("a setting that went is a warning in each place, and no value is looked at", () => {
  const variables = new Map([["REHOME_REUSE_PORT", ""]]);
  const service = { file: "/etc/default/rehome", variables };
  const { retired, config } = loadConfig(
    { "log-file": "/nowhere", port: "1" },
    { REHOME_LOG_FILE: "", REHOME_REUSE_PORT: "perhaps" },
    [],
    service,
  );
  expect(config.port).toBe(1);
  expect(retired.map((each) => each.split(" does nothing any more. ")[0])).toEqual([
    "--log-file",
    "REHOME_LOG_FILE",
    "REHOME_REUSE_PORT",
    "REHOME_REUSE_PORT in /etc/default/rehome",
  ]);
});

test("no setting is named as one that went", () => {
  const { all } = loadConfig({}, {}, featureSettings(features));
  const flags = new Set(all.map(({ setting }) => setting.flag));
  expect(retiredSettings.filter(({ flag }) => flags.has(flag))).toEqual([]);
});

test("a variable that is no setting is refused in the service's file too", () => {
  const service = { file: "/etc/default/rehome", variables: new Map([["REHOME_PROT", "80"]]) };
  const message = "The variable REHOME_PROT in /etc/default/rehome is not a setting of rehome.";
  expect(() => loadConfig({}, {}, [], service)).toThrow(
    expect.objectContaining({ message, hint: "Name it REHOME_PORT." }),
  );
});

describe("the setting of a feature", () => {
  const side = listenAddress("side-listener", "serve something there");
  const env = { REHOME_SIDE_LISTENER: "[::1]:9000", REHOME_PORT: "9001" };

  test("is typed for the feature, and beside the core's", () => {
    const loaded = loadConfig({}, env, [side]);
    expect(loaded.valueOf(side)).toEqual({ host: "::1", port: 9000 });
    expect(loaded.config.port).toBe(9001);
    expect(loaded.valueOf(settings.port)).toBe(9001);
  });

  test("beats the environment with its flag, and is refused in words when it is not valid", () => {
    const loaded = loadConfig({ "side-listener": "127.0.0.1:80" }, env, [side]);
    expect(loaded.valueOf(side)).toEqual({ host: "127.0.0.1", port: 80 });
    expect(() => loadConfig({ "side-listener": "nowhere" }, env, [side])).toThrow(
      /^--side-listener must be/,
    );
  });

  test("is unknown to a program without the feature", () => {
    expect(() => loadConfig({}, env, [])).toThrow(/REHOME_SIDE_LISTENER is not a setting/);
    expect(() => loadConfig({}, {}, []).valueOf(side)).toThrow();
  });

  test("has a flag of its own", () => {
    const flags = [...Object.values(settings), ...featureSettings(features)].map(
      ({ flag }) => flag,
    );
    expect(new Set(flags).size).toBe(flags.length);
  });
});

describe("a base address", () => {
  const { parse } = baseAddress("base-url", "where the service is");

  test.each([
    ["https://a.example/v1", "https://a.example/v1"],
    ["http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"],
    ["https://a.example/pets-api/v1", "https://a.example/pets-api/v1"],
    // What stands in a header between < and > (RFC 8288, section 3), and what no header can hold.
    ["https://a.example/x>y/v1", "https://a.example/x%3Ey/v1"],
    ["https://例え.example/v1", "https://xn--r8jz45g.example/v1"],
    ["https://a.example/é/v1", "https://a.example/%C3%A9/v1"],
  ])("%s is written %s", (text, address) => {
    expect(parse(text)).toBe(address);
  });

  test.each([
    "a.example/v1",
    "ftp://a.example/v1",
    "https://a.example/v1/",
    "https://a.example/v1?x",
    "https:///v1",
    "https://user@a.example/v1",
  ])("%j is none", (text) => {
    expect(parse(text)).toBeUndefined();
  });
});

test.each([
  ["1", 1],
  ["60", 60],
  ["0", undefined],
  ["61", undefined],
  ["", undefined],
  ["1e1", undefined],
])("%j as a whole number from 1 to 60 is %p", (text, value) => {
  expect(integer("n", "N", "a number", { default: 1, min: 1, max: 60 }).parse(text)).toBe(value);
});

test.each([
  ["[::1]", "::1"],
  ["::1", "::1"],
  ["127.0.0.1", "127.0.0.1"],
  ["shelter.example", "shelter.example"],
  ["[shelter.example]", "[shelter.example]"],
  ["", undefined],
])("%j as a host is %p", (text, value) => {
  expect(host("host", "where to listen", "127.0.0.1").parse(text)).toBe(value);
});

test.each([
  ["true", true],
  ["0", false],
  ["", undefined],
  ["True", undefined],
])("%j as a switch is %p", (text, value) => {
  expect(toggle("on", "switch it on").parse(text)).toBe(value);
});

test("a web origin is exact, and * is all of them: no pattern would match", () => {
  const { parse } = settings.corsOrigin;
  expect(parse("https://a.example,http://localhost:3000")).toHaveLength(2);
  expect(parse("*")).toEqual(["*"]);
  const all = ["*,https://a.example", "https://a.example,*", "*,*", "* , *"];
  for (const pattern of ["https://*.example.org", "*.example.org", "https://*", "**", ...all]) {
    expect([pattern, parse(pattern)]).toEqual([pattern, undefined]);
  }
});
