/**
 * `rehome completion` on the compiled executable: what the shells ask it, with a store behind it.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeKey, rehome, serve, temporaryFolder, type TestKey } from "../helpers/binary.ts";
import { isOnPostgres } from "../helpers/store-under-test.ts";

const folder = temporaryFolder();
const env = { REHOME_DATA: folder.path };
let free: TestKey;
let pro: TestKey;

beforeAll(async () => {
  free = await makeKey(folder.path, "--plan", "free", "--name", "shelter website");
  pro = await makeKey(folder.path, "--plan", "pro", "--name", "bad\u001B[2Jname");
  const lines = Array.from({ length: 150 }, (_, at) => `{"name":"Pet ${at + 1}","categoryId":1}`);
  const args = ["pets", "import", "-", "--data", folder.path];
  expect((await rehome(args, { stdin: lines.join("\n") })).exitCode).toBe(0);
});
afterAll(() => folder[Symbol.dispose]());

async function offered(...words: string[]): Promise<string[]> {
  const result = await rehome(["__complete", "--", ...words], { env });
  expect(result).toMatchObject({ exitCode: 0, stderr: "" });
  return result.stdout.split("\n").filter((line) => line !== "");
}
const values = async (...words: string[]) =>
  (await offered(...words)).map((line) => line.split("\t")[0]);

describe.skipIf(isOnPostgres)("keys", () => {
  test("by id, the newest first, with label and plan", async () => {
    expect(await offered("keys", "show", "")).toEqual([
      `${pro.id}\tbad\\u001B[2Jname (pro)`,
      `${free.id}\tshelter website (free)`,
    ]);
    expect(await values("keys", "revoke", free.id.slice(0, 8))).toEqual([free.id]);
  });

  test("by label, unless it would command the terminal", async () => {
    expect(await offered("usage", "shel")).toEqual([`shelter website\t${free.id} (free)`]);
    expect(await offered("usage", "bad")).toEqual([]);
  });

  test("of the folder that is being named", async () => {
    using other = temporaryFolder();
    const { id } = await makeKey(other.path);
    expect(await values("keys", "show", "--data", other.path, "key_")).toEqual([id]);
  });

  test("while a server has the store", async () => {
    await using server = await serve(folder.path);
    expect(server.origin).toStartWith("http");
    expect(await values("keys", "show", "")).toEqual([pro.id, free.id]);
  });
});

describe.skipIf(isOnPostgres)("animals", () => {
  test("by the first digits of their ids, fifty at the most", async () => {
    expect(await offered("pets", "show", "12")).toEqual(
      [12, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129].map((id) => `${id}\tPet ${id}`),
    );
    expect(await values("pets", "show", "")).toEqual(
      Array.from({ length: 50 }, (_, at) => String(at + 1)),
    );
    expect(await offered("pets", "show", "1")).toHaveLength(50);
    for (const typed of ["0", "x", "-1", "99999999999999999999"])
      expect(await offered("pets", "remove", typed)).toEqual([]);
  });
});

describe("somebody who types is not disturbed", () => {
  test("by a folder that is missing: nothing is said, and nothing made", async () => {
    using other = temporaryFolder();
    const data = join(other.path, "none");
    expect(await offered("keys", "show", "--data", data, "")).toEqual([]);
    expect(readdirSync(other.path)).toEqual([]);
  });

  test("by a damaged database, a wrong setting or a database server", async () => {
    using other = temporaryFolder();
    writeFileSync(join(other.path, "rehome.db"), "nonsense");
    expect(await offered("keys", "show", "--data", other.path, "")).toEqual([]);
    expect(await offered("keys", "show", "--store", "postgres://127.0.0.1:1/x", "")).toEqual([]);
    const result = await rehome(["__complete", "--", "keys", "show", ""], {
      env: { REHOME_PROT: "1" },
    });
    expect(result).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });
});

describe("scripts", () => {
  test.each(["bash", "zsh", "fish"])("for %s", async (shell) => {
    const result = await rehome(["completion", shell]);
    expect(result).toMatchObject({ exitCode: 0, stderr: "" });
    expect(result.stdout).toContain("__complete --");
  });

  test("for no other shell", async () => {
    const result = await rehome(["completion", "csh"]);
    expect(result).toMatchObject({ exitCode: 2, stdout: "" });
    expect(result.stderr).toContain("Allowed choices are bash, zsh, fish.");
  });

  test("nobody sees the command behind them", async () => {
    expect((await rehome(["--help"])).stdout).not.toContain("__complete");
  });
});
