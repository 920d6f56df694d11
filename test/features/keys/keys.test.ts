import { expect, test } from "bun:test";
import { testApp } from "../../helpers/app.ts";
import { changesNoticed } from "../../helpers/store-under-test.ts";

const messageOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    ({ message }: Error) => message,
  );

test("a key that is revoked gets no new secret, and keeps its time and its history", async () => {
  const { clock, services } = await testApp();
  const { keys } = services;
  const { key } = await keys.create({ name: "revoked", plan: "free" });
  await keys.revoke(key.id);
  const before = await keys.details(key.id);
  clock.advance(1_000);
  const refused = `The key ${key.id} is revoked; it gets no new secret.`;
  expect(await messageOf(keys.rotate(key.id, 0))).toBe(refused);
  await keys.revoke(key.id);
  expect(await keys.details(key.id)).toEqual(before);
});

test("a key that has expired gets a new secret, which opens nothing until the key is extended", async () => {
  const { clock, services } = await testApp();
  const { key } = await services.keys.create({ name: "trial", plan: "free", expiresInMs: 1_000 });
  clock.advance(1_000);
  const { secret } = await services.keys.rotate(key.id, 0);
  const admitted = async () =>
    (await services.access.admit(secret, () => "192.0.2.1")).refusal?.detail;
  expect(await admitted()).toBe("expired");
  await services.keys.update(key.id, { expiresInMs: 1_000 });
  expect(await admitted()).toBeUndefined();
  clock.advance(1_000);
  expect(await admitted()).toBe("expired");
  await services.keys.update(key.id, { expiresInMs: "never" });
  expect(await admitted()).toBeUndefined();
});

test("a label belongs to one key that is not revoked, also at the same moment", async () => {
  const { services } = await testApp();
  const { keys } = services;
  const make = () => keys.create({ name: "website", plan: "free" });
  const made = await Promise.allSettled([make(), make(), make()]);
  expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  const { id } = await keys.resolve("website");
  expect(await messageOf(make())).toBe(`The key ${id} has the label "website" already.`);
  const { key: other } = await keys.create({ name: "other", plan: "free" });
  const events = (await keys.details(other.id)).events.length;
  expect(await messageOf(keys.update(other.id, { name: "website" }))).toContain(id);
  expect(await keys.resolve("other")).toEqual(other);
  expect((await keys.details(other.id)).events).toHaveLength(events);
  await keys.revoke(id);
  await keys.update(other.id, { name: "website" });
  // The one that was revoked keeps its label, and may change in other ways.
  await keys.update(id, { plan: "pro" });
  await keys.update(id, { name: "former" });
  await keys.update(id, { name: "website" });
  expect((await keys.resolve("website")).id).toBe(other.id);
});

test("keys of an older version that share a label stay usable, and the label lists them", async () => {
  const { clock, services, store } = await testApp();
  const { keys } = services;
  const ids = [];
  for (const name of ["a", "b"]) {
    ids.push((await keys.create({ name, plan: "free" })).key.id);
    clock.advance(1);
  }
  await store.db.transaction((tx) => tx.update(tx.t.apiKeys).set({ name: "twin" }));
  expect(await messageOf(keys.resolve("twin"))).toBe(`"twin" means 2 keys: ${ids.join(", ")}.`);
  const [first = "", second = ""] = ids;
  expect(await keys.update(first, { plan: "pro" })).toMatchObject({ name: "twin", plan: "pro" });
  await keys.rotate(second, 0);
  await keys.update(second, { name: "single" });
  expect((await keys.resolve("twin")).id).toBe(first);
});

test("a key on enterprise keeps the number that is not changed", async () => {
  const { keys } = (await testApp()).services;
  const { key } = await keys.create({ name: "a", plan: "pro" });
  await keys.update(key.id, { plan: "enterprise", perMinute: 5, perDay: 50 });
  const { limits } = await keys.update(key.id, { perDay: 60 });
  expect(limits).toEqual({ perMinute: 5, perDay: 60 });
});

test("no label holds a secret, of a new key or of one that is renamed", async () => {
  const { services } = await testApp();
  const { keys } = services;
  const { key, secret } = await keys.create({ name: "a", plan: "pro" });
  const named = { name: `website ${secret}` };
  expect(await messageOf(keys.create({ ...named, plan: "pro" }))).toContain(
    "must not hold a secret",
  );
  expect(await messageOf(keys.update(key.id, named))).toContain("must not hold a secret");
});

test("a former secret is good for as long as its grace, to the millisecond", async () => {
  const { clock, services } = await testApp();
  const { key, secret } = await services.keys.create({ name: "a", plan: "pro" });
  const isGood = async () =>
    (await services.access.admit(secret, () => "192.0.2.1")).refusal === undefined;
  await services.keys.rotate(key.id, 5_000);
  clock.advance(4_999);
  await changesNoticed();
  expect(await isGood()).toBe(true);
  clock.advance(1);
  expect(await isGood()).toBe(false);
});
