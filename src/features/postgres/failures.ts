import { SQL } from "bun";
import { DrizzleQueryError } from "drizzle-orm/errors";
import { AppError } from "../../domain/errors.ts";

/** SQLSTATEs that end a connection or refuse one (PostgreSQL manual, appendix A). */
const lossStates = new Set([
  "25006", // read_only_sql_transaction: connected to what is a standby since a failover
  "53300", // too_many_connections
  "57P01", // admin_shutdown
  "57P02", // crash_shutdown
  "57P03", // cannot_connect_now
  "57P05", // idle_session_timeout
  "25P03", // idle_in_transaction_session_timeout
]);
/** Classes of SQLSTATE that mean the same: connection exception, and refused authorization. */
const lossClasses = ["08", "28"];

/** Errors after which it is certain that the server has done nothing of what was asked. */
const harmlessCodes = new Set([
  "ERR_POSTGRES_CONNECTION_REFUSED",
  "ERR_POSTGRES_CONNECTION_TIMEOUT",
  "ERR_POSTGRES_CONNECTION_FAILED",
  "ERR_POSTGRES_TLS_NOT_AVAILABLE",
  "ERR_POSTGRES_TLS_UPGRADE_FAILED",
]);
const harmlessStates = new Set(["25006", "53300", "57P03"]);

/** A prepared statement is missing or unknown: a pooler uses different server connections. */
const poolerStates = /^(?:42P05|26000)$/;
const poolerHint =
  "Use PgBouncer 1.21 or newer with max_prepared_statements set, a pool in session mode, or the database's own address.";

/** The work did not end by its deadline; whether the server did it is unknown. */
export class DeadlineError extends Error {}

/** The server accepts no writes. Its code makes it the loss of a connection: others may accept. */
export class ReadOnlyError extends Error {
  readonly code = "READ_ONLY";
}

/** The client's own error: the message of Drizzle's quotes the statement and parameters. */
export function unwrap(error: unknown): unknown {
  return error instanceof DrizzleQueryError ? (error.cause ?? error) : error;
}

function stateOf(error: unknown): string {
  return error instanceof SQL.PostgresError ? (error.errno ?? "") : "";
}

function codeOf(error: unknown): string {
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : "";
}

/** True when the connection is gone or was never made. */
export function isConnectionLoss(error: unknown): boolean {
  // It has a code of its own.
  if (error instanceof AppError) return false;
  const state = stateOf(error);
  if (state !== "") return lossStates.has(state) || lossClasses.includes(state.slice(0, 2));
  const code = codeOf(error);
  if (code.startsWith("ERR_POSTGRES_"))
    return /_(?:CONNECTION|TLS|SASL|CHANNEL_BINDING|AUTHENTICATION)_/.test(`${code}_`);
  // A name that does not resolve, a certificate that is not trusted.
  return error instanceof Error && code !== "";
}

/** True when it is certain that nothing was done, so that a retry is safe. */
export function isHarmless(error: unknown): boolean {
  return harmlessCodes.has(codeOf(error)) || harmlessStates.has(stateOf(error));
}

/**
 * Classes of SQLSTATE for values that a table does not take: data exception, integrity constraint
 * violation, program limit exceeded.
 */
const valueClasses = ["22", "23", "54"];

/** True when the server refused the values of a statement, and would refuse them again. */
export function isOfValue(error: unknown): error is AppError {
  return error instanceof AppError && valueClasses.includes(stateOf(error.cause).slice(0, 2));
}

/** The AppError for a failure of the database; any other error stays what it is. */
export function asAppError(error: unknown): unknown {
  const isOurs = error instanceof DeadlineError || error instanceof SQL.SQLError;
  if (!isOurs && !isConnectionLoss(error)) return error;
  return new AppError("unavailable", "The store cannot be used at the moment.", {
    cause: error,
    why: (error as Error).message,
    hint: hintOf(error),
  });
}

function hintOf(error: unknown): string {
  if (poolerStates.test(stateOf(error))) return poolerHint;
  return error instanceof DeadlineError
    ? "Check the database. On a slow network, raise REHOME_STORE_TIMEOUT (in ms, 2000 by default)."
    : "Check the database, and try again.";
}

export const unavailable = (message: string) => new AppError("unavailable", message);

/** What to do about a database that accepts no writes though it is no standby. */
export const readOnlyHint =
  "Find out why, such as a full disk. Then: ALTER DATABASE ... RESET default_transaction_read_only;";

/** In words, why the database at `where` cannot be used. An AppError has them already. */
export function explainRefusal(error: unknown, where: string): AppError {
  if (error instanceof AppError) return error;
  const { message } = error as Error;
  const known = stateOf(error) || codeOf(error);
  const [, what, hint] = refusals.find(([codes]) => codes.test(known)) ?? unreachable;
  return new AppError("unavailable", `${where} ${what}: ${message}.`, {
    cause: error,
    hint,
  });
}

/** What it means that a database is refused: by its SQLSTATE, or else the code of the error. */
const refusals: readonly (readonly [codes: RegExp, what: string, hint: string])[] = [
  [/^28/, "refuses this user", "Check user and password, and the server's pg_hba.conf."],
  [/^3D000$/, "has no such database", "Create it: CREATE DATABASE ... OWNER ...;"],
  [
    /^(?:42501|3F000)$/,
    "does not let this user create its tables",
    "Make the user the owner of the database, or create the schema for it: CREATE SCHEMA rehome AUTHORIZATION ...;",
  ],
  [/^25006$/, "is read-only", readOnlyHint],
  [/^READ_ONLY$/, "has no host that accepts writes", "Promote a standby, or name the primary too."],
  [poolerStates, "is a pooler that does not support prepared statements", poolerHint],
  [
    /^ERR_POSTGRES_TLS_NOT_AVAILABLE$/,
    "does not speak TLS",
    "Turn on TLS at the server. On a private network, ?sslmode=disable connects without it.",
  ],
  [
    /^(?!ERR_POSTGRES_).*(?:CERT|SIGNATURE|ISSUER|ALTNAME)/,
    "has a certificate that cannot be trusted",
    "Name the authority that signed it with ?sslrootcert=FILE, or use the host name that is in the certificate.",
  ],
];
const unreachable = [
  undefined,
  "cannot be reached",
  "Check host and port, and that the server runs.",
] as const;
