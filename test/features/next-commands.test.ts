/** What a command on an empty store says to type next leads to that store. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../helpers/binary.ts";
import { command } from "../helpers/command.ts";

test.each([
  ["keys list", "Make one: rehome keys create --plan free --name LABEL"],
  ["pets list", "Add one:           rehome pets add --name NAME --category 1 --status available"],
  ["pets list", "Or import a file:  rehome pets import FILE"],
  ["pets list --name x", "All of them: rehome pets list"],
  ["categories list", "Make one: rehome categories add NAME"],
  ["people list", "Invite somebody: rehome people invite NAME"],
  ["people invite Ana", "Start it: rehome serve --console 127.0.0.1:8090"],
])("%s says: %s", async (line, next) => {
  using folder = temporaryFolder();
  const data = ["--data", join(folder.path, "a b")];
  const begin =
    line === "categories list" ? "keys create --plan free --name x" : "categories add Dog";
  await command([...begin.split(" "), ...data]);
  const { exitCode, stderr } = await command([...line.split(" "), ...data]);
  expect(exitCode).toBe(0);
  expect(stderr).toContain(`${next} --data '${data[1]}'\n`);
});
