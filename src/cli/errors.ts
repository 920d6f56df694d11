import { AppError } from "../domain/errors.ts";

export function messageOf(error: unknown): string {
  if (error instanceof AppError) return error.explained;
  return error instanceof Error ? error.message : String(error);
}

/** The failure that began it, where closing what it left open (`await using`) failed too. */
export function firstOf(error: unknown): unknown {
  return error instanceof SuppressedError ? firstOf(error.suppressed) : error;
}
