import { expect, test } from "bun:test";
import { accountNamed, userName } from "../../src/storage/system.ts";

const passwd = () =>
  "root:x:0:0:root:/root:/bin/bash\nrehome:x:997:997::/:/usr/sbin/nologin\n:x:8:8::/:/bin/sh\n";
const missing = () => {
  throw new Error("ENOENT");
};

test.each([
  [0, passwd, "root"],
  [997, passwd, "rehome"],
  [12_345, passwd, "uid 12345"],
  [8, passwd, "uid 8"],
  [7, missing, "uid 7"],
])("user %p is known by name", (uid, file, name) => {
  expect(userName(uid, file)).toBe(name);
});

test.each([
  ["rehome", passwd, { name: "rehome", uid: 997, gid: 997 }],
  ["shelter", passwd, undefined],
  ["rehome", missing, undefined],
])("account %p is found", (name, file, account) => {
  expect(accountNamed(name, file)).toEqual(account);
});
