import { Elysia } from "elysia";
import type { Services } from "../../service/services.ts";
import { jsonType, statusOf } from "../errors.ts";

/** What monitors ask: no key, no limits. `/health` says that the process answers, `/ready` that it can do its work. */
export function probeRoutes(services: Services) {
  return new Elysia({ name: "probes" })
    .get(
      "/health",
      ({ set }) => {
        set.headers["content-type"] = jsonType;
        return JSON.stringify({ status: "ok" });
      },
      { detail: { hide: true } },
    )
    .get(
      "/ready",
      async ({ set }) => {
        const checks = await services.check();
        const isReady = checks.every(({ ok }) => ok);
        set.status = isReady ? 200 : statusOf.unavailable;
        set.headers["content-type"] = jsonType;
        return JSON.stringify({ status: isReady ? "ready" : "not ready", checks });
      },
      { detail: { hide: true } },
    );
}
