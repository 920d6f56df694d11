import type { Setting } from "../../config.ts";

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
