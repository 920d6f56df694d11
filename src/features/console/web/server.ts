import { clientAddress, parseAddress, isInCidr, type Cidr } from "../../../domain/address.ts";
import type { Tls } from "../../../http/server.ts";
import { uploadBytesMax } from "./upload.ts";

/** How long a connection may be silent: a phone on a bad line pauses while it sends a file. */
const idleTimeoutSeconds = 60;
/** What a form with the largest file adds to it. */
const envelopeBytes = 1024 * 1024;

/** Where a request comes from, as the listener knows it. */
export interface Origin {
  /** The person's address, behind proxies that are trusted. */
  readonly address: string;
  /** True when the person's browser speaks HTTPS. */
  readonly isSecure: boolean;
  /** Keeps the connection open for as long as the answer takes. */
  readonly bePatient: () => void;
}

interface ConsoleListenOptions {
  readonly host: string;
  readonly port: number;
  readonly reusePort: boolean;
  readonly tls: Tls | undefined;
  readonly trustedProxies: readonly Cidr[];
  readonly handle: (request: Request, origin: Origin) => Promise<Response>;
}

export interface ConsoleServer {
  readonly url: URL;
  /** Takes up another certificate. Connections that are open go on until their answer. */
  renew(tls: Tls): void;
  stop(): Promise<void>;
}

/** Listens. Throws the system's error when the address cannot be used. */
export function listen(options: ConsoleListenOptions): ConsoleServer {
  const isShared = options.tls !== undefined || options.reusePort;
  // What shares its port with its successor would share it with anybody: see first that nobody is
  // there.
  if (isShared && !options.reusePort) claim(options);
  let current = bind({ ...options, reusePort: isShared });
  const { url, port = options.port } = current;
  return {
    url,
    renew(tls) {
      const former = current;
      current = bind({ ...options, port, reusePort: true, tls });
      void former.stop();
    },
    async stop() {
      await current.stop(true);
    },
  };
}

function claim({ host, port }: ConsoleListenOptions): void {
  if (port === 0) return;
  Bun.listen({ hostname: host, port, socket: { data: () => undefined } }).stop(true);
}

function bind({ host, port, reusePort, tls, trustedProxies, handle }: ConsoleListenOptions) {
  return Bun.serve({
    hostname: host,
    port,
    reusePort,
    development: false,
    idleTimeout: idleTimeoutSeconds,
    maxRequestBodySize: uploadBytesMax + envelopeBytes,
    ...(tls && { tls: { cert: tls.cert, key: tls.key } }),
    fetch(request, server) {
      const peer = server.requestIP(request)?.address ?? "";
      const origin = originOf(request, peer, tls !== undefined, trustedProxies);
      return handle(request, { ...origin, bePatient: () => server.timeout(request, 0) });
    },
  });
}

function originOf(
  { headers }: Request,
  peer: string,
  isTls: boolean,
  trustedProxies: readonly Cidr[],
): Omit<Origin, "bePatient"> {
  const peerAddress = parseAddress(peer);
  const isProxied =
    peerAddress !== undefined && trustedProxies.some((range) => isInCidr(peerAddress, range));
  return {
    address: clientAddress(peer, headers.get("x-forwarded-for"), trustedProxies),
    isSecure: isTls || (isProxied && headers.get("x-forwarded-proto") === "https"),
  };
}
