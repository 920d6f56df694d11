/** What these programs use of the process, so that they need no types of a runtime. */
declare const process: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: { write(text: string): void };
};
