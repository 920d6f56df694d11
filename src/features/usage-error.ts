import { AppError } from "../domain/errors.ts";

/** A command that was called wrongly: exit code 2, with what to do instead. */
export class UsageError extends AppError {
  constructor(message: string, hint: string, cause?: unknown) {
    super("invalid_request", message, { cause, hint });
  }
}
