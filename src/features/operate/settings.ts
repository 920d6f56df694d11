import { availableParallelism } from "node:os";
import { integer, text, type AnySetting, type Setting } from "../../config.ts";
import { durationText, parseDuration } from "../duration.ts";
import { intervalMinMs } from "../schedule/jobs.ts";

/** An address or a name of this machine, and a port, to listen on. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** `ADDRESS:PORT`, with an IPv6 address in brackets; a bare port is one of this machine alone. */
export function listenAddress(
  flag: string,
  description: string,
): Setting<ListenAddress | undefined> {
  return {
    flag,
    placeholder: "ADDRESS:PORT",
    description,
    default: undefined,
    rule: "must be an address and a port such as 127.0.0.1:9464 or [::1]:9464, or a port",
    parse(value) {
      const [, bracketed, plain, digits] =
        /^(?:(?:\[([\da-fA-F:.]+)\]|([^\s:/[\]]+)):)?(\d{1,5})$/.exec(value) ?? [];
      const host = bracketed ?? plain ?? (digits && "127.0.0.1");
      const port = Number(digits);
      return host === undefined || port > 65_535 ? undefined : { host, port };
    },
  };
}

export const metricsSetting = listenAddress(
  "metrics",
  "serve Prometheus metrics at this address, to anyone who can reach it; off by default",
);

const processesMax = 64;

/** `--processes`: how many processes serve at one address. `auto` is one for each core. */
export const processesSetting: Setting<number> = {
  flag: "processes",
  placeholder: "N|auto",
  description: "processes that serve at one address; auto is one for each core",
  default: 1,
  rule: `must be a whole number from 1 to ${processesMax}, or auto`,
  parse(text) {
    if (text === "auto") return availableParallelism();
    const count = /^\d{1,2}$/.test(text) ? Number(text) : 0;
    return count >= 1 && count <= processesMax ? count : undefined;
  },
};

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
