import { expect, test } from "bun:test";
import { testApp } from "../helpers/app.ts";

test("a key that was revoked gets no new secret: nobody could use it", async () => {
  const { services } = await testApp();
  const { key } = await services.keys.create({ name: "revoked", plan: "free" });
  await services.keys.revoke(key.id);
  const before = await services.keys.details(key.id);
  const refused = await services.keys.rotate(key.id, 0).catch((error: Error) => error.message);
  expect(refused).toBe(`The key ${key.id} is revoked; it gets no new secret.`);
  expect(await services.keys.details(key.id)).toEqual(before);
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
