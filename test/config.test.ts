import { describe, expect, test } from "bun:test";
import { features } from "../src/features/index.ts";
import { featureSettings } from "../src/cli/options.ts";
import { run } from "../src/cli/program.ts";
import { defaultDataFolder, loadConfig, serviceDataFolder, settings } from "../src/config.ts";
import { listenAddress } from "../src/features/listen-address.ts";
import { testIo } from "./helpers/io.ts";

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

test("a variable that is no setting is refused in the service's file too", () => {
  const service = new Map([["REHOME_PROT", { text: "80", file: "/etc/default/rehome" }]]);
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
    expect(() => loadConfig({ "side-listener": "80" }, env, [side])).toThrow(
      /^--side-listener must be/,
    );
  });

  test("is unknown to a program without the feature", () => {
    expect(() => loadConfig({}, env, [])).toThrow(/REHOME_SIDE_LISTENER is not a setting/);
    expect(() => loadConfig({}, {}, []).valueOf(side)).toThrow();
  });

  test("is in the help of serve and shown by config, which take its flag", async () => {
    const io = testIo({ features: [{ name: "tried", settings: [side] }] });
    expect(await run(["serve", "--help"], io)).toBe(0);
    expect(io.printed()).toContain("--side-listener <ADDRESS:PORT>");
    expect(io.printed()).toContain("REHOME_SIDE_LISTENER");
    expect(await run(["config", "--side-listener", "127.0.0.1:80"], io)).toBe(0);
    expect(io.printed()).toMatch(/side-listener +127\.0\.0\.1:80 +--side-listener/);
  });

  test("has a flag of its own", () => {
    const flags = [...Object.values(settings), ...featureSettings(features)].map(
      ({ flag }) => flag,
    );
    expect(new Set(flags).size).toBe(flags.length);
  });
});
