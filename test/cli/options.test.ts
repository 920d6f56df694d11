import { describe, expect, test } from "bun:test";
import { storeFlags } from "../../src/cli/options.ts";
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
    expect(storeFlags(loadConfig(flags, env, []), testIo({ env }))).toEqual(expected);
  });
});
