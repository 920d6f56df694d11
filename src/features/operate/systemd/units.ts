import { serviceSettingsFile } from "../../../config.ts";
import { AppError, shellWord } from "../../../domain/errors.ts";
import defaults from "./rehome.default" with { type: "text" };
import service from "./rehome.service" with { type: "text" };

/** The path that the template is written with. */
const writtenPath = "/usr/bin/rehome";

/** The account that the service runs as. */
export const account = "rehome";

/** The file with the service's settings: an administrator's, never written over. */
export const settingsFile = { path: serviceSettingsFile, text: defaults };

const unitFolder = "/etc/systemd/system";
export const unitName = "rehome.service";
export const unitFile = `${unitFolder}/${unitName}`;
/** Where the Debian package has the same unit. */
export const packagedUnit = `/lib/systemd/system/${unitName}`;

/** What lets the service listen on a port below 1024, and nothing else, beside its unit. */
export const lowPort = {
  path: `${unitFile}.d/low-port.conf`,
  text: `[Service]
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
PrivateUsers=no
`,
};

/** The characters of a path that mean the same to systemd and to the shell in its units. */
const plainPath = /^[\w@+,./-]+$/;

/**
 * The systemd unit for the executable at this path. Throws AppError where the path has a space or
 * another character with a meaning of its own.
 */
export function unitOf(executable = writtenPath): string {
  if (!plainPath.test(executable)) {
    throw notThere(executable, "a unit cannot hold a path with such characters");
  }
  return service.replaceAll(writtenPath, () => executable);
}

export function notThere(executable: string, why: string): AppError {
  return new AppError("invalid_request", `The executable is ${executable}, and ${why}.`, {
    hint: `sudo install -m 755 ${shellWord(executable)} /usr/local/bin/rehome`,
  });
}
