import type { Listening } from "../../../feature.ts";
import { localHost } from "../../../cli/reach.ts";
import type { ListenAddress } from "../../listen-address.ts";
import { AppError } from "../../../domain/errors.ts";
import { reasonOf } from "../../../domain/system-error.ts";
import type { Refusal } from "../../../service/admission.ts";
import type { Metrics } from "./metrics.ts";
import { errorBody, jsonType, otherMethod, refusal, statusOf } from "../../../http/errors.ts";

/** Where Prometheus asks. Everybody who reaches the address reads everything there. */
const metricsPath = "/metrics";

const methods = "GET, HEAD";

function refused(why: Refusal, more: Readonly<Record<string, string>> = {}): Response {
  const headers = { "Content-Type": jsonType, ...more };
  return Response.json(errorBody(why), { status: statusOf[why.kind], headers });
}

/** Where metrics are served, until `stop`. */
export interface MetricsListener {
  readonly listening: Listening;
  stop(): Promise<void>;
}

/** Serves what `text` returns at an own address. Throws AppError when it cannot be had. */
export function listenForMetrics(
  text: Metrics["text"],
  { host, port }: ListenAddress,
): MetricsListener {
  try {
    const server = Bun.serve({
      hostname: host,
      port,
      development: false,
      reusePort: false,
      routes: {
        [metricsPath]: {
          async GET() {
            const { contentType, body } = await text();
            return new Response(body, { headers: { "content-type": contentType } });
          },
        },
      },
      fetch: ({ method, url }) =>
        URL.parse(url)?.pathname === metricsPath
          ? refused(otherMethod(method, methods), { Allow: methods })
          : refused(refusal("not_found", `The metrics are at ${metricsPath}.`)),
    });
    const url = `http://${localHost(host)}:${server.port}${metricsPath}`;
    return { listening: { title: "Metrics", url, more: [] }, stop: () => server.stop(true) };
  } catch (error) {
    throw new AppError(
      "unavailable",
      `Cannot listen for metrics on ${host} port ${port}: ${reasonOf(error)}.`,
      { cause: error, hint: "Choose another address with --metrics." },
    );
  }
}
