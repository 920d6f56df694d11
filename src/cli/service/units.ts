import backupService from "./rehome-backup.service" with { type: "text" };
import backupTimer from "./rehome-backup.timer" with { type: "text" };
import defaults from "./rehome.default" with { type: "text" };
import service from "./rehome.service" with { type: "text" };

export interface UnitOptions {
  /** Where the executable stands. */
  readonly executable: string;
  /** The account that the service runs as. */
  readonly user: string;
}

/** The path and the account that the templates are written with. */
const written: UnitOptions = { executable: "/usr/bin/rehome", user: "rehome" };

/** The file with the service's settings: an administrator's, never written over. */
export const settingsFile = { path: "/etc/default/rehome", text: defaults };

/** The systemd units by file name: the service, and the daily backup with its timer. */
export function units(options: UnitOptions = written): ReadonlyMap<string, string> {
  const fill = (text: string) =>
    text
      .replaceAll(written.executable, options.executable)
      .replaceAll(/^(User|Group)=.*$/gm, `$1=${options.user}`);
  return new Map([
    ["rehome.service", fill(service)],
    ["rehome-backup.service", fill(backupService)],
    ["rehome-backup.timer", backupTimer],
  ]);
}
