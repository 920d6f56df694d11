/** A command that was called wrongly: exit code 2, with what to do instead. */
export class UsageError extends Error {
  /** As that of AppError. */
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}
