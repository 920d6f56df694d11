import { bearer } from "@elysiajs/bearer";
import { Elysia } from "elysia";
import type { Services } from "../service/services.ts";
import type { Cors } from "./cors.ts";
import { credentialOf } from "./credential.ts";
import { recordOf } from "./door.ts";
import { refuse } from "./errors.ts";

export interface GateOptions {
  readonly services: Pick<Services, "access">;
  readonly cors: Cors | undefined;
}

/**
 * The gate of every request under /v1, before its body, path or query is read: the caller, its
 * limits (429), its credential (401). Its decision is in the three limit headers.
 */
export function gate({ services, cors }: GateOptions) {
  return new Elysia({ name: "gate" })
    .use(bearer())
    .derive(
      { as: "scoped" },
      async ({ bearer: token, headers: { authorization }, request, route }) => {
        const record = recordOf(request);
        record.route = route;
        const address = () => record.address();
        // A browser sends no credential with a preflight; what does is charged like any request.
        const isPreflight = authorization === undefined && cors?.isPreflight(request) === true;
        const admission = isPreflight
          ? services.access.pass(address)
          : await services.access.admit(credentialOf(authorization, token), address);
        record.admission = admission;
        return admission.refusal && refuse(record, admission.refusal);
      },
    );
}
