import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ImportEngine } from "./import-engine.ts";
import { firstChoices, ImportJob } from "./imports.ts";
import { failure } from "./words/index.ts";

/** The files that people are importing: one a person, in a folder that nobody else can read. */
export class ImportDesk {
  readonly #folder: string;
  readonly #engine: ImportEngine;
  readonly #jobs = new Map<string, ImportJob>();
  readonly #arriving = new Set<string>();
  #lastFile = 0;

  /** Begins with an empty folder: what a console left there that was killed is nobody's. */
  constructor(folder: string, engine: ImportEngine) {
    this.#folder = folder;
    this.#engine = engine;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  job(personId: string): ImportJob | undefined {
    return this.#jobs.get(personId);
  }

  /**
   * Takes a file in with `receive`, in place of the person's last one, and begins to read it.
   * Throws `unavailable` while another file of theirs arrives or is being imported. Undefined when
   * no file was chosen.
   */
  async take(
    personId: string,
    receive: (path: string) => Promise<{ readonly name: string; readonly bytes: number }>,
  ): Promise<ImportJob | undefined> {
    if (this.#arriving.has(personId)) {
      throw failure("unavailable", "uploading");
    }
    this.#arriving.add(personId);
    const file = join(this.#folder, `${(this.#lastFile += 1)}`);
    try {
      const { name, bytes } = await receive(file);
      if (bytes === 0 && name === "") {
        rmSync(file, { force: true });
        return undefined;
      }
      await this.drop(personId);
      const job = new ImportJob(this.#engine, name, file);
      this.#jobs.set(personId, job);
      job.examine(firstChoices);
      return job;
    } catch (error) {
      rmSync(file, { force: true });
      throw error;
    } finally {
      this.#arriving.delete(personId);
    }
  }

  async drop(personId: string): Promise<void> {
    const job = this.#jobs.get(personId);
    this.#jobs.delete(personId);
    await job?.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#jobs.keys()].map((id) => this.drop(id)));
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
