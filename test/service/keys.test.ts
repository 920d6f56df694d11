import { expect, test } from "bun:test";
import { testApp } from "../helpers/app.ts";

test("a key that has ended gets no new secret: nobody could use it", async () => {
  const { clock, services } = await testApp();
  const { key: revoked } = await services.keys.create({ name: "revoked", plan: "free" });
  await services.keys.revoke(revoked.id);
  const lasting = { plan: "free", expiresInMs: 1_000 } as const;
  const { key: expired } = await services.keys.create({ name: "expired", ...lasting });
  clock.advance(999);
  await services.keys.rotate(expired.id, 0);
  clock.advance(1);
  for (const { id, name } of [revoked, expired]) {
    const before = await services.keys.details(id);
    const refused = await services.keys.rotate(id, 0).catch((error: Error) => error.message);
    expect(refused).toBe(`The key ${id} is ${name}; it gets no new secret.`);
    expect(await services.keys.details(id)).toEqual(before);
  }
});
