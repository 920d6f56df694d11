/** Questions of one kind to another process, until they are answered. */
export class Questions<T> {
  readonly #open = new Map<number, (answer: T) => void>();
  #lastId = 0;

  /** Asks with `send`, which is given the question's id, and resolves with the answer. */
  ask(send: (id: number) => void): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<T>();
    this.#lastId += 1;
    this.#open.set(this.#lastId, resolve);
    send(this.#lastId);
    return promise;
  }

  answer(id: number, answer: T): void {
    this.#open.get(id)?.(answer);
    this.#open.delete(id);
  }

  /** Gives every open question the same answer. */
  answerAll(answer: T): void {
    for (const id of this.#open.keys()) this.answer(id, answer);
  }
}
