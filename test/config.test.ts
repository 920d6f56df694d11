import { describe, expect, test } from "bun:test";
import { defaultDataFolder, serviceDataFolder } from "../src/config.ts";

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
