/**
 * The address of a PostgreSQL database: `postgres://user:password@host:port/database?sslmode=...`,
 * with commas between several hosts as libpq has it. Bun's client does not read it, because it
 * knows one host, fills gaps from the environment, does not verify the server by default, and
 * ignores mistyped parameters.
 */
import { isIP } from "node:net";
import { userInfo } from "node:os";
import { isLoopback } from "../../domain/address.ts";
import { AppError } from "../../domain/errors.ts";

const sslModes = ["disable", "require", "verify-ca", "verify-full"] as const;
const channelBindings = ["disable", "prefer", "require"] as const;

const parameterNames =
  "host port user password dbname application_name options channel_binding " +
  "sslmode sslrootcert sslcert sslkey";
const parameters = parameterNames.split(" ");
/** Parameters for libpq alone: rehome writes, so of several hosts it uses the primary. */
const ignoredParameters = new Set(["connect_timeout", "pgbouncer", "target_session_attrs"]);

export interface DatabaseHost {
  readonly host: string;
  /** The folder of a Unix socket, instead of a host. */
  readonly socketFolder: string | undefined;
  readonly port: number;
}

export interface DatabaseAddress {
  /** At least one. Of several, the primary is used. */
  readonly hosts: readonly [DatabaseHost, ...DatabaseHost[]];
  readonly user: string;
  readonly database: string;
  readonly sslMode: (typeof sslModes)[number];
  /** PEM files: what to trust, and what to show. */
  readonly sslRootCert: string | undefined;
  readonly sslCert: string | undefined;
  readonly sslKey: string | undefined;
  readonly channelBinding: (typeof channelBindings)[number];
  readonly startup: Readonly<Record<string, string>>;
  /** A function, so that no log and no inspection of an object shows what it returns. */
  readonly password: () => string;
}

/** How `address` is shown: without its password and parameters. */
export function describeAddress({ user, hosts, database }: DatabaseAddress) {
  const where = hosts.map(describeHost);
  return `postgres://${encodeURIComponent(user)}@${where.join(",")}/${encodeURIComponent(database)}`;
}

export function describeHost({ host, port, socketFolder }: DatabaseHost): string {
  return `${socketFolder ?? (isIP(host) === 6 ? `[${host}]` : host)}:${port}`;
}

/**
 * Reads an address. Throws `invalid_request`, without the address, which may have a password. By
 * default the server's certificate is verified, chain and name, except on this machine.
 */
export function parseDatabaseAddress(text: string): DatabaseAddress {
  if (!/^postgres(?:ql)?:\/\//i.test(text)) throw invalid("must begin with postgres://");
  // A URL has one host, and one with credentials has no empty one. libpq allows both.
  const [, head = "", authority = "", rest = ""] =
    /^([^/]*\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(text) ?? [];
  const servers = (authority || "localhost").split(",");
  const url = parseUrl(`${head}${servers[0]}${rest}`);
  const given = readParameters(url.searchParams);
  const textOf = (name: string, fallback: string) => given.get(name) ?? decode(fallback);

  const hosts = hostsOf(servers, given);
  const user = textOf("user", url.username) || userInfo().username;
  const password = textOf("password", url.password);
  const sslMode =
    given.get("sslmode") ??
    (hosts.every(({ host }) => host.startsWith("/") || isLoopback(host))
      ? "disable"
      : "verify-full");
  const startup: Record<string, string> = {
    application_name: given.get("application_name") ?? "rehome",
  };
  const options = given.get("options");
  if (options !== undefined) startup["options"] = options;
  return {
    hosts,
    user,
    database: textOf("dbname", url.pathname.slice(1)) || user,
    sslMode: chosen("an sslmode", sslMode, sslModes, weakModes),
    sslRootCert: given.get("sslrootcert"),
    sslCert: given.get("sslcert"),
    sslKey: given.get("sslkey"),
    channelBinding: chosen(
      "a channel_binding",
      given.get("channel_binding") ?? "disable",
      channelBindings,
    ),
    startup,
    password: () => password,
  };
}

/** The hosts of the address itself, or those of the parameter `host` and its ports. */
function hostsOf(
  servers: readonly string[],
  given: ReadonlyMap<string, string>,
): DatabaseAddress["hosts"] {
  const urls = servers.map((server) => parseUrl(`postgres://${server}`));
  const inAddress = urls.map(({ hostname }) => decode(hostname.replace(/^\[(.*)\]$/, "$1")));
  const names = given.get("host")?.split(",") ?? inAddress;
  const ports = given.get("port")?.split(",") ?? urls.map(({ port }) => port);
  if (ports.length !== 1 && ports.length !== names.length) {
    throw invalid("has another number of ports than of hosts");
  }
  const [first, ...others] = names.map((name, i) => {
    const host = name || "localhost";
    const socketFolder = host.startsWith("/") ? host : undefined;
    return { host, socketFolder, port: portOf(ports[i] ?? ports[0] ?? "") };
  });
  if (first === undefined) throw invalid("has no host");
  return [first, ...others];
}

const weakModes = " (allow and prefer do not protect the connection)";

function chosen<T extends string>(what: string, value: string, values: readonly T[], why = ""): T {
  const found = values.find((each) => each === value);
  if (found !== undefined) return found;
  throw invalid(`has ${what} that is not one of ${values.join(", ")}${why}`);
}

function parseUrl(text: string): URL {
  const url = URL.parse(text);
  // What stands behind a # is the rest of a password, as a rule.
  if (url !== null && url.hash === "") return url;
  throw invalid(
    "cannot be read; characters such as @ / : ? # % in its password must be percent-encoded",
  );
}

function readParameters(query: URLSearchParams): Map<string, string> {
  const given = new Map<string, string>();
  for (const [name, value] of query) {
    if (ignoredParameters.has(name)) continue;
    if (!parameters.includes(name)) {
      const known = parameters.join(", ");
      throw invalid(`has the parameter ${JSON.stringify(name)}, which is not one of ${known}`);
    }
    given.set(name, value);
  }
  return given;
}

function portOf(text: string): number {
  const port = text === "" ? 5432 : Number(text);
  if (!/^\d{0,5}$/.test(text) || port < 1 || port > 65_535) {
    throw invalid("has a port that is not a number from 1 to 65535");
  }
  return port;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid("has a % that no two hexadecimal digits follow");
  }
}

function invalid(rule: string): AppError {
  return new AppError("invalid_request", `The address of the store ${rule}.`, {
    hint: "Write it as postgres://user:password@host:5432/database, preferably in a file that --store-file names.",
  });
}
