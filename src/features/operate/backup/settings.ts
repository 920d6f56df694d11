import { integer, text, type AnySetting, type Setting } from "../../../config.ts";
import { durationText, parseDuration } from "../../duration.ts";
import { intervalMinMs } from "../../schedule/job-times.ts";

const isAddress = (value: string) => URL.canParse(value) && /^https?:/.test(value);

/** Where the service makes backups by the schedule, and how. */
export const backupSettings = {
  to: text(
    "backup-to",
    "FOLDER|s3://BUCKET/PREFIX",
    "where the service makes backups of its data folder; off by default",
  ),
  every: {
    flag: "backup-every",
    placeholder: "DURATION",
    description: "how often the service makes a backup",
    default: "24h",
    rule: `must be a duration from ${durationText(intervalMinMs)}, such as 24h`,
    parse: (value: string) => ((parseDuration(value) ?? 0) >= intervalMinMs ? value : undefined),
  } satisfies Setting<string>,
  keep: integer("backup-keep", "N", "backups of this store that stay there", {
    default: 30,
    min: 1,
    max: 99_999,
  }),
  ping: {
    ...text(
      "backup-ping",
      "URL",
      "address to ask after each backup of the service, with /fail behind it after a failure",
    ),
    rule: "must be an http or https address",
    parse: (value: string) => (isAddress(value) ? value : undefined),
    // Who knows it can report backups that there are not.
    shown: (value: string) => `${URL.parse(value)?.origin ?? ""}/***`,
  } satisfies Setting<string | undefined>,
  recipient: {
    ...text("backup-recipient", "AGE1...", "public key of age that backups are encrypted for"),
    rule: "must be a public key of age, such as age1...",
    parse: (value: string) => (/^age1[a-z0-9]{20,}$/.test(value) ? value : undefined),
  } satisfies Setting<string | undefined>,
  credentials: text(
    "backup-credentials",
    "FILE",
    "file with the credentials of the bucket, as the tools of AWS have it; else their variables",
  ),
} as const satisfies Record<string, AnySetting>;
