/**
 * The writer thread: a server adds animals to `rehome.db` here alone. It waits for the disk, so
 * that the serving thread never does. It checkpoints both files.
 */
import { AppError } from "../../domain/errors.ts";
import type { IdempotentCreate, StoredCreate } from "../contract.ts";
import type { CreatedRow } from "../pet-row.ts";
import { openDatabase } from "./connection.ts";
import { Lanes } from "./lanes.ts";

export interface WriterOpen {
  readonly insertPet: string;
  readonly catalogue: string;
  readonly limits: string;
  readonly busyTimeoutMs: number;
}

export type WriterRequest =
  | ({ readonly type: "open" } & WriterOpen)
  | { readonly type: "create"; readonly rows: readonly CreatedRow[]; readonly waitedMs: number }
  | {
      readonly type: "createOnce";
      readonly creates: readonly IdempotentCreate[];
      readonly waitedMs: number;
    }
  | { readonly type: "checkpoint" }
  | { readonly type: "close" };

type Result =
  | {
      readonly type: "committed";
      /** What became of each create, in their order: an error is of its values. */
      readonly results: readonly (bigint | StoredCreate | Error)[];
      readonly commitMs: number;
    }
  | { readonly type: "failed"; readonly code: string; readonly message: string }
  | { readonly type: "done" };

/** Every request gets one reply, which carries the request's number. */
export type WriterReply = Result & { readonly id: number };

declare const self: Worker;

function writerOn({ catalogue, limits, busyTimeoutMs: timeoutMs, insertPet }: WriterOpen) {
  const on = (path: string, synchronous: "full" | "normal") =>
    new Lanes({ open: () => openDatabase(path, { synchronous, busyTimeoutMs: 0 }), timeoutMs });
  return { db: on(catalogue, "full"), counters: on(limits, "normal"), timeoutMs, insertPet };
}

/** Made by the request that comes first. */
let writer: ReturnType<typeof writerOn> | undefined;
const done = { type: "done" } as const;

/** Does what is asked for since `sinceMs`: a lock that others hold delays it by so long in all. */
async function handle(request: WriterRequest, sinceMs: number): Promise<Result> {
  if (request.type === "open") writer = writerOn(request);
  if (writer === undefined) throw new Error("the writer was not told what to open");
  const { db, counters, timeoutMs, insertPet } = writer;
  const leftMs = (waitedMs: number) => timeoutMs - waitedMs - (performance.now() - sinceMs);
  switch (request.type) {
    case "open":
      // What makes it fail may be over when they are needed: then they are opened again.
      await Promise.all([db.open(), counters.open()]);
      return done;
    case "create":
      return committed(db.insertAll(insertPet, request.rows, leftMs(request.waitedMs)));
    case "createOnce":
      return committed(addedOnce(db, request.creates, leftMs(request.waitedMs)));
    case "checkpoint":
      await counters.checkpoint();
      return done;
    case "close":
      // The last one to close a database checkpoints it; where another process goes on, this is
      // enough. On a full disk what was committed is safe in the log.
      for (const each of [db, counters]) {
        await each.checkpoint().catch(() => {});
        await each.close();
      }
      return done;
  }
}

/** Drizzle is loaded with the first create of this kind. */
async function addedOnce(
  db: Lanes,
  creates: readonly IdempotentCreate[],
  timeoutMs: number,
): Promise<(StoredCreate | Error)[]> {
  const { addAllOnce } = await import("./transaction.ts");
  return addAllOnce(db.writes, creates, timeoutMs);
}

async function committed(creating: Promise<(bigint | StoredCreate | Error)[]>): Promise<Result> {
  const startMs = performance.now();
  const results = await creating;
  return { type: "committed", results, commitMs: performance.now() - startMs };
}

let last = Promise.resolve();

async function respond(
  { id, ...request }: WriterRequest & { readonly id: number },
  sinceMs: number,
): Promise<void> {
  let result: Result;
  try {
    result = await handle(request, sinceMs);
  } catch (error) {
    const cause = error instanceof AppError ? (error.cause ?? error) : error;
    const { code = "", message } = cause as Error & { code?: string };
    result = { type: "failed", code, message };
  }
  postMessage({ ...result, id } satisfies WriterReply);
}

self.onmessage = ({ data }: MessageEvent<WriterRequest & { readonly id: number }>) => {
  const sinceMs = performance.now();
  last = last.then(() => respond(data, sinceMs));
};
