import { type Message, messageText } from "./messages.ts";

/** Something about a number of records that is no error, but that the operator should know. */
export interface Note {
  readonly said: Message;
  readonly records: number;
  /** 0 where it is not known. */
  readonly firstLine: number;
  /** A value that the first of them has; empty where it is not known. */
  readonly example: string;
}

/** The notes of one import, one for each text. */
export class Notes {
  readonly #notes = new Map<string, Note & { records: number }>();

  add(said: Message, line: number, example: string): void {
    const first = () => ({ said, records: 0, firstLine: line, example });
    this.#notes.getOrInsertComputed(messageText(said), first).records += 1;
  }

  clear(): void {
    this.#notes.clear();
  }

  list(): readonly Note[] {
    return [...this.#notes.values()];
  }
}
