import { expect, test } from "bun:test";
import { actorOf } from "../../src/cli/io.ts";

test.each([
  [{}, 0, "root"],
  [{ USER: "mallory" }, 0, "root"],
  [{ SUDO_USER: "kim" }, 0, "kim"],
  [{ SUDO_USER: "" }, 0, "root"],
  [{}, undefined, "unknown"],
])("%j as user %p is known by name", (env, uid, name) => {
  expect(actorOf(env, uid)).toBe(name);
});
