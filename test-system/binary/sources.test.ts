/** A followed list, from its preview to the pulls of the service. */
import { afterAll, expect, test } from "bun:test";
import { serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { until } from "../../test/helpers/until.ts";

const folder = temporaryFolder();
const list = { text: "Name,Type,Status\nRex,Dog,Available\nTom,Cat,Adopted\n" };
const fake = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(list.text) });
afterAll(async () => {
  await fake.stop(true);
  folder[Symbol.dispose]();
});

const sources = (...words: string[]) =>
  command(["sources", ...words, "--data", folder.path], { env: { REHOME_PULL_PRIVATE: "on" } });
const animals = async () => {
  const { stdout } = await command(["pets", "list", "--json", "--data", folder.path]);
  return (JSON.parse(stdout) as { name: string; status: string }[]).map(
    ({ name, status }) => `${name} ${status}`,
  );
};

test("a list is shown, confirmed and followed; the service pulls what changed", async () => {
  await command(["keys", "create", "--plan", "free", "--name", "k", "--data", folder.path]);
  const url = `http://127.0.0.1:${fake.port}/list.csv`;
  const asked = await sources("add", "vet", "--url", url, "--every", "15m");
  expect(asked.exitCode).toBe(2);
  expect(asked.stderr).toContain("Name -> name");
  expect(await animals()).toEqual([]);
  const added = await sources(
    "add",
    "vet",
    "--url",
    url,
    "--every",
    "15m",
    "--yes",
    "--accept-guess",
  );
  expect(added).toMatchObject({ exitCode: 0 });
  expect(await animals()).toEqual(["Rex available", "Tom sold"]);

  list.text = "Name,Type,Status\nRex,Dog,Pending\nTom,Cat,Adopted\n";
  expect(await sources("pull", "vet")).toMatchObject({ exitCode: 0 });
  expect(await animals()).toContain("Rex pending");

  // The service pulls what is overdue: here what was paused and resumed.
  await sources("pause", "vet");
  list.text = "Name,Type,Status\nRex,Dog,Adopted\nTom,Cat,Adopted\n";
  await sources("resume", "vet");
  await using _server = await serve(folder.path, ["--pull-private", "on"]);
  await until(async () => (await animals()).includes("Rex sold"), 90_000);
  const shown = await sources("list", "--json");
  expect(JSON.parse(shown.stdout)).toMatchObject([{ name: "vet", state: "ok", failures: 0 }]);
}, 180_000);

test("what goes wrong is shown, and a secret is nowhere", async () => {
  const secret = `${folder.path}/secret`;
  await Bun.write(secret, "s3cr3t-key\n");
  const refused = await sources(
    "add",
    "shelter",
    "--preset",
    "shelterluv",
    "--account",
    "1",
    "--url",
    `http://127.0.0.1:${fake.port}/`,
    "--secret-file",
    secret,
    "--yes",
  );
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toStartWith("Error: shelter: the source did not return JSON");
  list.text = "<!doctype html><title>Sign in</title>";
  const pulled = await sources("pull", "vet");
  expect(pulled).toMatchObject({ exitCode: 1 });
  expect(pulled.stderr).toContain("web page");
  const shown = await sources("show", "vet");
  expect(shown.stdout).toMatch(/^List +http.*\nCredential +none\nState +failing: .*web page/);
  expect(shown.stdout).toMatch(/^Read as +.*name = Name/m);
  for (const { stdout, stderr } of [refused, pulled, shown])
    expect(stdout + stderr).not.toContain("s3cr3t");
});
