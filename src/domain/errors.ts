/** Why a request is refused or failed: the closed list of values of `code` in the Error body. */
export type ErrorKind =
  | "invalid_request"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "method_not_allowed"
  | "payload_too_large"
  | "unsupported_media_type"
  | "rate_limited"
  | "key_banned"
  | "internal_error"
  | "unavailable";

/**
 * A failure with two readers: `message` is for the caller and has nothing internal, `cause` is for
 * the operator. If the caller is the operator, the message may include `explained`. An expected
 * refusal is a `Refusal` value instead.
 */
export class AppError extends Error {
  readonly kind: ErrorKind;
  /** The reason for the operator alone: the end of a sentence, without a full stop. */
  readonly why: string | undefined;
  /**
   * Advice for the operator, which the command line prints after `Try:`. An imperative sentence
   * with a full stop, or a command to type.
   */
  readonly hint: string | undefined;
  /** What went wrong, for programs: what tells the reader in another language goes by it. */
  readonly code: string | undefined;

  constructor(
    kind: ErrorKind,
    message: string,
    options: { cause?: unknown; why?: string; hint?: string; code?: string } = {},
  ) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.why = options.why;
    this.hint = options.hint;
    this.code = options.code;
  }

  /** The message with the reason behind it: for an operator only. */
  get explained(): string {
    return this.why === undefined
      ? this.message
      : `${this.message.replace(/\.$/, "")}: ${this.why}.`;
  }
}

/** `text` as one word for a POSIX shell, so that a copied command works with spaces in a path. */
export function shellWord(text: string): string {
  return /^[\w%+,./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export function messageOf(error: unknown): string {
  if (error instanceof AppError) return error.explained;
  return error instanceof Error ? error.message : String(error);
}

/** The failure that began it, where closing what it left open (`await using`) failed too. */
export function firstOf(error: unknown): unknown {
  return error instanceof SuppressedError ? firstOf(error.suppressed) : error;
}
