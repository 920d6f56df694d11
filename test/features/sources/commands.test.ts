/** What `rehome sources` shows and asks, with a list on this machine. */
import { afterAll, expect, test } from "bun:test";
import { run as program } from "../../../src/cli/program.ts";
import { temporaryFolder } from "../../helpers/binary.ts";
import { command } from "../../helpers/command.ts";
import { testIo } from "../../helpers/io.ts";

const list = { text: "" };
const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(list.text) });
const url = `http://127.0.0.1:${server.port}/list.csv`;
const folder = temporaryFolder();
afterAll(async () => {
  await server.stop(true);
  folder[Symbol.dispose]();
});

const run = (...words: readonly string[]) =>
  command([...words, "--data", folder.path], { env: { REHOME_PULL_PRIVATE: "on" } });
const sources = (words: string) => run("sources", ...words.split(" "));
const followed = async () => JSON.parse((await sources("list --json")).stdout) as unknown;

const head = "Id,Name,Type,Status\n";

test("a list is shown before it is followed, with the categories that it makes", async () => {
  await run("categories", "add", "Dog");
  list.text = `${head}1,Rex,Dog,Available\n2,Tom,Cat,Adopted\n`;
  const add = `add vet --url ${url} --every 15m`;
  const asked = await sources(add);
  expect(asked.exitCode).toBe(2);
  expect(asked.stderr).toMatch(/Name -> name[^]*2 {2}would be added[^]*Category Cat would be/);
  expect(await followed()).toEqual([]);
  const added = await sources(`${add} --yes --accept-guess`);
  expect([added.exitCode, added.stdout]).toEqual([0, expect.stringContaining("2  added")]);
  expect(await followed()).toMatchObject([{ name: "vet", state: "ok", everySeconds: 900 }]);
  expect(await sources(`${add} --yes --accept-guess`)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("followed already"),
  });
});

test("a list that cannot be imported is not followed", async () => {
  list.text = `${head}1,Rex,Dog,Wandering\n`;
  const reading = "--map name=Name,categoryId=Type,status=Status,externalId=Id";
  const refused = await sources(`add other --url ${url} ${reading} --yes`);
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    expect.stringContaining("none of 1 records could be read: Status: unknown status"),
  ]);
  expect(await followed()).toMatchObject([{ name: "vet" }]);
});

test("what a list leaves open is asked on a terminal, as an import asks it", async () => {
  list.text = "Name\nRex\n";
  const asked: string[] = [];
  const ask = async (question: string) => ["Dog", "n"][asked.push(question) - 1] ?? "";
  const io = testIo({ canAsk: true, ask, env: { REHOME_PULL_PRIVATE: "on" } });
  const add = ["sources", "add", "asked", "--url", url, "--data", folder.path];
  expect(await program(add, io)).toBe(1);
  expect(asked).toEqual([
    "What kind of animal are all of these, such as Dog? ",
    "No column says whether an animal is for adoption: all are. Follow this list as asked, every 1h? [y/N] ",
  ]);
});

test("what goes wrong is shown, and a secret is nowhere", async () => {
  const secret = `${folder.path}/secret`;
  await Bun.write(secret, "s3cr3t-key\n");
  const add = `add shelter --preset shelterluv --account 1 --url ${url} --secret-file ${secret}`;
  const refused = await sources(`${add} --yes`);
  expect(refused.stderr).toStartWith("Error: shelter: the source did not return JSON");
  list.text = "<!doctype html><title>Sign in</title>";
  const pulled = await sources("pull vet");
  expect(pulled).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("a web page") });
  const shown = await sources("show vet");
  expect(shown.stdout).toMatch(/^List +http.*\nCredential +none\nState +failing: .*web page/);
  expect(shown.stdout).toMatch(/^Read as +.*name = Name/m);
  for (const { stdout, stderr } of [refused, pulled, shown])
    expect(stdout + stderr).not.toContain("s3cr3t");
});
