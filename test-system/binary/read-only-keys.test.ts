/**
 * Read-only keys on the compiled executable: what they may do, what a refusal says and costs, and
 * where it is shown.
 */
import { expect, test } from "bun:test";
import { makeKey, perDay, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { command } from "../../test/helpers/command.ts";
import { keyDetailsSchema, keyListSchema, keySchema } from "../../src/features/keys/fields.ts";
import { documentedJson } from "../../test/helpers/json-contract.ts";
import { bound } from "../../test/helpers/store-under-test.ts";

interface Shown {
  readonly access: string;
  readonly events: { changes: { field: string; before: string | null; after: string | null }[] }[];
}

test("a read-only key lists and gets, and is refused with 403 where it would add", async () => {
  using folder = temporaryFolder();
  const { key, id } = await makeKey(folder.path, ...perDay(60), "--read-only");
  await using server = await serve(folder.path);
  const create = (body = '{"name":"Rex","categoryId":1}') =>
    fetch(`${server.origin}/v1/pets`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body,
    });
  const headers = { authorization: `Bearer ${key}` };
  const get = (path: string) => fetch(`${server.origin}${path}`, { headers });
  const left = ({ headers: sent }: Response) => Number(sent.get("x-ratelimit-remaining"));

  expect(left(await get("/v1/pets"))).toBe(59);
  const refused = await create();
  expect(refused.status).toBe(403);
  expect(refused.headers.get("www-authenticate")).toBe('Bearer error="insufficient_scope"');
  // Charged like any other request that was admitted.
  expect(left(refused)).toBe(58);
  expect(await refused.json()).toEqual({
    code: "forbidden",
    message: "This API key is read-only: it can read animals but not add them.",
    status: 403,
  });
  // Whatever is sent: the body is not looked at. An address that takes no POST says so first.
  expect((await create("no JSON")).status).toBe(403);
  const elsewhere = { method: "POST", headers };
  expect((await fetch(`${server.origin}/v1/pets/1`, elsewhere)).status).toBe(405);
  expect((await fetch(`${server.origin}/v1/nothing`, elsewhere)).status).toBe(404);
  expect((await get("/v1/pets/1")).status).toBe(404);
  expect(await (await get("/v1/pets")).text()).toBe("[]");

  const update = async (...flags: string[]) => {
    const updated = await command(["keys", "update", id, ...flags, "--data", folder.path]);
    await bound();
    return updated;
  };
  const opened = await update("--read-write");
  expect(opened).toMatchObject({ exitCode: 0, stderr: "" });
  expect(opened.stdout).not.toContain("read-only");
  expect((await create()).status).toBe(201);
  expect((await update("--read-only")).stdout).toContain("read-only");
  expect((await create()).status).toBe(403);
  expect((await get("/v1/pets/1")).status).toBe(200);
  // What an update does not name stays.
  expect((await update("--plan", "pro")).stdout).toContain("read-only");
  expect((await create()).status).toBe(403);
});

test("list, show, their JSON and the events say what a key may do", async () => {
  using folder = temporaryFolder();
  const data = ["--data", folder.path];
  const { id } = await makeKey(folder.path, "--plan", "free", "--read-only");
  await command(["keys", "update", id, "--read-write", ...data]);
  const json = async (...words: string[]) => {
    const { stdout } = await command(["keys", ...words, ...data, "--json"]);
    return stdout;
  };
  const details = documentedJson(keyDetailsSchema, await json("show", id)) as Shown;
  expect(details.access).toBe("read-write");
  const changes = details.events.flatMap((event) => event.changes);
  expect(changes.filter(({ field }) => field === "access")).toEqual([
    { field: "access", before: null, after: "read-only" },
    { field: "access", before: "read-only", after: "read-write" },
  ]);
  const updated = await json("update", id, "--read-only");
  expect(documentedJson(keySchema, updated)).toMatchObject({ access: "read-only" });
  expect(documentedJson(keyListSchema, await json("list"))).toMatchObject([
    { access: "read-only" },
  ]);
  expect((await command(["keys", "list", ...data])).stdout).toContain("free, read-only");
  expect((await command(["keys", "show", id, ...data])).stdout).toMatch(/^ {2}Access +read-only$/m);

  const both = await command(["keys", "update", id, "--read-only", "--read-write", ...data]);
  expect(both.exitCode).toBe(2);
  expect(both.stderr).toContain("cannot be used with");
});
