import { AppError } from "../domain/errors.ts";
import { descriptorsMax } from "../storage/system.ts";

/** With fewer, too few are left for connections. Bun raises the soft limit to the hard one. */
const descriptorsMin = 256;

/** Throws `unavailable` when the system gives this process too few file descriptors. */
export function requireDescriptors(): void {
  const max = descriptorsMax();
  if (max >= descriptorsMin) return;
  throw new AppError(
    "unavailable",
    `This process may open ${max} files and connections, and the service needs ${descriptorsMin}.`,
    {
      hint: `Raise the hard limit: ulimit -Hn ${descriptorsMin} as root, or LimitNOFILE= in its systemd unit.`,
    },
  );
}
