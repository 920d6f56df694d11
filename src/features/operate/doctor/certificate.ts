import { X509Certificate } from "node:crypto";
import { readTls } from "../../../cli/tls.ts";
import type { Config } from "../../../config.ts";
import { dayMs, isoSeconds } from "../../../domain/clock.ts";
import type { AppError } from "../../../domain/errors.ts";
import { fail, failWith, ok, warn, type Finding } from "./finding.ts";

/** Programs that renew certificates do it earlier than this before their end. */
const renewalMs = 14 * dayMs;

/**
 * Whether the next start and reload can use the certificate that the settings name, and how long
 * clients accept it. Empty when the settings name none.
 */
export function checkCertificate(config: Config, nowMs: number): Finding[] {
  const check = "certificate";
  try {
    const tls = readTls(config);
    if (tls === undefined) return [];
    const endMs = new X509Certificate(tls.cert).validToDate.getTime();
    const detail = `${config.tlsCert}, valid until ${isoSeconds(endMs)}`;
    const advice = "Renew it, then: systemctl reload rehome";
    if (endMs <= nowMs) return [fail(check, `${detail}: it has ended`, advice)];
    return [endMs < nowMs + renewalMs ? warn(check, detail, advice) : ok(check, detail)];
  } catch (error) {
    return [failWith(check, error as AppError, "Correct --tls-cert and --tls-key.")];
  }
}
