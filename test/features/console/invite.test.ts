/** The link that `rehome people invite` prints. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { run } from "../../../src/cli/program.ts";
import { temporaryFolder } from "../../helpers/binary.ts";
import { testIo } from "../../helpers/io.ts";

test("leads to an address of this machine where the console takes all of them", async () => {
  using folder = temporaryFolder();
  const data = ["--data", folder.path];
  expect(await run(["categories", "add", "Dog", ...data], testIo())).toBe(0);
  using db = new Database(`${folder.path}/rehome.db`);
  // As the console notes it under systemd, where it may not ask for the addresses.
  db.run("INSERT INTO store_state (name, value) VALUES ('console', 'http://0.0.0.0:8090')");
  const io = testIo();
  expect(await run(["people", "invite", "Ana", ...data], io)).toBe(0);
  expect(io.printed()).toMatch(/^http:\/\/[1-9][\d.]*:8090\/join\//);
});
