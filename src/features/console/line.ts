import { type Io, untilAborted } from "../../cli/io.ts";
import { Questions } from "../operate/processes/questions.ts";
import type { Traffic } from "../operate/traffic.ts";
import { messages, type Begin, type FromConsole, type ToConsole } from "./messages.ts";

/** The service's end of the line: what it asks for, and what it is asked. */
export class Line {
  readonly begun: Promise<Begin>;
  readonly #say: (message: FromConsole) => void;
  readonly #traffic = new Questions<Traffic>();
  readonly #end: Promise<void>;
  #reload: () => void = () => undefined;

  constructor(io: Io, say: (message: FromConsole) => void) {
    this.#say = say;
    const { promise, resolve } = Promise.withResolvers<Begin>();
    this.begun = promise;
    // A service that is gone before it has begun wants no link.
    this.#end = this.#read(io, resolve).finally(() => resolve({ wantsFirstLink: false }));
  }

  traffic(): Promise<Traffic> {
    return this.#traffic.ask((id) => this.#say({ type: "traffic", id }));
  }

  /** Resolves when the service is gone. */
  async ended(reload: () => void, report: (error: unknown) => void): Promise<void> {
    this.#reload = () => {
      try {
        reload();
      } catch (error) {
        report(error);
      }
    };
    await this.#end;
  }

  async #read(io: Io, begin: (begin: Begin) => void): Promise<void> {
    const heard = async () => {
      for await (const message of messages<ToConsole>(io.input())) {
        if (message.type === "begin") begin(message.begin);
        else if (message.type === "reload") this.#reload();
        else this.#traffic.answer(message.id, message.traffic);
      }
    };
    await Promise.race([heard(), untilAborted(io.hearSignals().stop)]);
  }
}
