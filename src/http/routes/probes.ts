import { Elysia } from "elysia";
import type { Services } from "../../service/services.ts";
import { jsonType, refusal, refuse, respond } from "../errors.ts";

const json = (request: Request, value: unknown) =>
  respond(request, JSON.stringify(value), { headers: { "Content-Type": jsonType } });

/** The probes, without key or limits. `/health`: the process responds. `/ready`: it can work. */
export function probeRoutes(services: Pick<Services, "check">) {
  return new Elysia({ name: "probes" })
    .get("/health", ({ request }) => json(request, { status: "ok" }))
    .get("/ready", async ({ request }) => {
      const checks = await services.check();
      const failed = checks.filter(({ ok }) => !ok);
      if (failed.length === 0) return json(request, { status: "ready", checks });
      const why = failed.map(({ name, detail }) => `${name}: ${detail}`).join("; ");
      return refuse(request, refusal("unavailable", `Not ready. ${why}.`));
    });
}
