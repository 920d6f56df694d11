import { serviceSettingsFile } from "../../../config.ts";
import { AppError, shellWord } from "../../../domain/errors.ts";
import defaults from "./rehome.default" with { type: "text" };
import service from "./rehome.service" with { type: "text" };

export interface UnitOptions {
  readonly executable: string;
  readonly user: string;
}

/** The path and the account that the templates are written with. */
const written: UnitOptions = { executable: "/usr/bin/rehome", user: "rehome" };

/** The file with the service's settings: an administrator's, never written over. */
export const settingsFile = { path: serviceSettingsFile, text: defaults };

/** Where an administrator's units lie. */
export const unitFolder = "etc/systemd/system";

/** The units of version 1.0.0 that made a backup each day; the service makes them now. */
export const formerUnits = ["rehome-backup.timer", "rehome-backup.service"] as const;

/** What lets the service listen on a port below 1024, and nothing else, beside its unit. */
export const lowPort = {
  path: "rehome.service.d/low-port.conf",
  text: `[Service]
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
PrivateUsers=no
`,
};

export const unitName = "rehome.service";

/** The characters of a path that mean the same to systemd and to the shell in its units. */
const plainPath = /^[\w@+,./-]+$/;

/**
 * The systemd unit. Throws AppError where the executable's path has a space or another character
 * with a meaning of its own.
 */
export function unitOf({ executable, user }: UnitOptions = written): string {
  if (!plainPath.test(executable)) {
    throw notThere(executable, "a unit cannot hold a path with such characters");
  }
  return (
    service
      .replaceAll(written.executable, () => executable)
      // No Group: an account that is there already has its own, which need not be called like it.
      .replaceAll(/^User=.*$/gm, `User=${user}`)
  );
}

export function notThere(executable: string, why: string): AppError {
  return new AppError("invalid_request", `The executable is ${executable}, and ${why}.`, {
    hint: `sudo install -m 755 ${shellWord(executable)} /usr/local/bin/rehome`,
  });
}
