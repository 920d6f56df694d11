import { settings, variableOf, type LoadedConfig } from "../../config.ts";
import { AppError } from "../../domain/errors.ts";
import type { Services } from "../../service/services.ts";

/**
 * Throws `invalid_request` when nobody named the environment and the default is likely to be the
 * wrong one: the server on this store would refuse the secret that is about to be made.
 */
export async function refuseOtherEnvironment(
  { keys, place }: Services,
  { config: { environment }, loadedOf }: LoadedConfig,
): Promise<void> {
  if (loadedOf(settings.environment).source !== "default" || !(await keys.areForeign())) return;
  throw new AppError(
    "invalid_request",
    `There are keys in ${place}, but none of the ${environment} environment, which is the default.`,
    {
      hint: `Name the server's environment with --${settings.environment.flag} or ${variableOf(settings.environment)}.`,
    },
  );
}
