import { Elysia } from "elysia";
import type { Services } from "../../service/services.ts";
import { recordOf } from "../handler.ts";
import { errorAnswer, jsonType, refusal } from "../errors.ts";

/** The probes, without key or limits. `/health`: the process responds. `/ready`: it can work. */
export function probeRoutes(services: Pick<Services, "check">) {
  return new Elysia({ name: "probes" })
    .get("/health", ({ set }) => {
      set.headers["content-type"] = jsonType;
      return JSON.stringify({ status: "ok" });
    })
    .get("/ready", async ({ request, set }) => {
      const checks = await services.check();
      const failed = checks.filter(({ ok }) => !ok);
      if (failed.length > 0) {
        const why = failed.map(({ name, detail }) => `${name}: ${detail}`).join("; ");
        return errorAnswer(recordOf(request), refusal("unavailable", `Not ready. ${why}.`));
      }
      set.headers["content-type"] = jsonType;
      return JSON.stringify({ status: "ready", checks });
    });
}
