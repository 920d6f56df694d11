/** The writer thread, as other threads start it. This file loads little: a start does it early. */
import { existsSync } from "node:fs";
import { descriptorsAreFree } from "../system.ts";
import { inMemory, storeFiles } from "./files.ts";
import type { WriterReply, WriterRequest } from "./writer.worker.ts";

/** Descriptors that a thread needs with the files that it opens. */
const threadDescriptors = 16;

/** In the executable the worker is an entry point of its own, below the root that all share. */
const defaultWorkerUrl = Bun.isStandaloneExecutable
  ? "./storage/sqlite/writer.worker.ts"
  : new URL("./writer.worker.ts", import.meta.url).href;

/** Starts a thread. Throws when it cannot. */
export function startThread(workerUrl = defaultWorkerUrl): Worker {
  // Bun ends the process when a thread finds none.
  if (!descriptorsAreFree(threadDescriptors)) throw new Error("no file descriptors are free");
  return new Worker(workerUrl, { smol: true });
}

/** A data folder that was found to be in order, and to need no migration. */
export interface Inspected {
  /** The thread that inspected it, for the writer. */
  readonly thread: Worker;
}

/**
 * Inspects the data folder as every start does, on the thread that will write: reading the whole
 * catalogue takes as long as loading the server. Resolves with undefined when there is something to
 * say or to make, which the start then finds by itself. Never rejects.
 */
export async function inspectAhead(folder: string | undefined): Promise<Inspected | undefined> {
  if (folder === undefined || folder === inMemory) return undefined;
  const files = storeFiles(folder);
  if (!existsSync(files.catalogue)) return undefined;
  const { promise, resolve } = Promise.withResolvers<WriterReply | undefined>();
  let thread: Worker | undefined;
  try {
    thread = startThread();
  } catch {
    return undefined;
  }
  thread.onmessage = ({ data }: MessageEvent<WriterReply>) => resolve(data);
  thread.onerror = () => resolve(undefined);
  thread.addEventListener("close", () => resolve(undefined));
  thread.postMessage({ type: "inspect", id: 0, ...files } satisfies WriterRequest & { id: number });
  const reply = await promise;
  if (reply?.type === "inspected" && reply.isCurrent) return { thread };
  thread.terminate();
  return undefined;
}
