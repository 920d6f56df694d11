import { expect, test } from "bun:test";
import { actorOf } from "../../src/cli/actor.ts";

const passwd = () => "root:x:0:0:root:/root:/bin/bash\nrehome:x:997:997::/:/usr/sbin/nologin\n";
const missing = () => {
  throw new Error("ENOENT");
};

test.each([
  [{}, 0, passwd, "root"],
  [{}, 997, passwd, "rehome"],
  [{ USER: "mallory" }, 997, passwd, "rehome"],
  [{ SUDO_USER: "kim" }, 0, passwd, "kim"],
  [{ SUDO_USER: "" }, 0, passwd, "root"],
  [{}, 12_345, passwd, "uid 12345"],
  [{}, 7, missing, "uid 7"],
  [{}, undefined, passwd, "unknown"],
])("%j as user %p is known by name", (env, uid, file, name) => {
  expect(actorOf(env, uid, file)).toBe(name);
});
