/**
 * The writer thread: the only place in a server that changes `rehome.db`. It waits for the disk, so
 * that the serving thread never does. It checkpoints both files.
 */
import type { Database } from "bun:sqlite";
import type { KeptCreate, OnceCreate } from "../contract.ts";
import { probe } from "./checks.ts";
import { isBusy, openDatabase } from "./database.ts";
import { noteNoisyMinute } from "../keys.ts";
import { perform, transactOn } from "./engine.ts";
import type { CreatedRow } from "../pet-row.ts";
import { inspectFolder } from "./inspect.ts";
import { addAllOnce, countPets, petInsert } from "./pet-writer.ts";
import { countBan } from "../counters.ts";

export interface WriterOpen {
  readonly catalogue: string;
  readonly limits: string;
  /** How long a create may wait for another process's lock before it fails. */
  readonly busyTimeoutMs: number;
}

export type WriterRequest =
  | ({ readonly type: "inspect" } & Pick<WriterOpen, "catalogue" | "limits">)
  | ({ readonly type: "open" } & WriterOpen)
  | { readonly type: "create"; readonly rows: readonly CreatedRow[] }
  | { readonly type: "createOnce"; readonly creates: readonly OnceCreate[] }
  | {
      readonly type: "noisy";
      readonly keyId: string;
      readonly minuteLabel: number;
      readonly nowMs: number;
    }
  | { readonly type: "checkpoint" }
  | { readonly type: "count" }
  | { readonly type: "probe"; readonly write: boolean }
  | { readonly type: "close" };

type Result =
  | { readonly type: "inspected"; readonly isCurrent: boolean }
  | {
      readonly type: "committed";
      /** What became of each create, in their order. */
      readonly results: readonly bigint[] | readonly KeptCreate[];
      readonly commitMs: number;
    }
  | { readonly type: "failed"; readonly code: string; readonly message: string }
  | { readonly type: "counted"; readonly animals: number }
  | { readonly type: "banned" }
  | { readonly type: "done" };

/** Every request gets one reply, which carries the request's number. */
export type WriterReply = Result & { readonly id: number };

declare const self: Worker;

interface Writer {
  readonly catalogue: Database;
  readonly limits: Database;
  readonly insert: ReturnType<typeof petInsert>;
}

let place: WriterOpen | undefined;
let writer: Writer | undefined;

/** Pause before a lock that another process holds is asked for again. */
const retryPauseMs = 1;

/**
 * Returns what `work`, a transaction on the catalogue, returns. SQLite's own retries soon wait 100
 * ms each, and miss the pauses of 3 ms in an import or an undo.
 */
function patiently<T>(work: () => T): T {
  const deadlineMs = performance.now() + (place?.busyTimeoutMs ?? 0);
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadlineMs) throw error;
      Bun.sleepSync(retryPauseMs);
    }
  }
}

/** The databases, opened at first use: what made the last attempt fail may be over. */
function opened(): Writer {
  if (place === undefined) throw new Error("the writer was not told what to open");
  if (writer === undefined) {
    const { busyTimeoutMs } = place;
    const catalogue = openDatabase(place.catalogue, { synchronous: "full", busyTimeoutMs });
    catalogue.run("PRAGMA busy_timeout = 0");
    const limits = openDatabase(place.limits, { synchronous: "normal", busyTimeoutMs });
    writer = { catalogue, limits, insert: petInsert(catalogue) };
  }
  return writer;
}

const done = { type: "done" } as const;

function handle(request: WriterRequest): Result {
  switch (request.type) {
    case "inspect": {
      const { catalogue, limits } = inspectFolder(request);
      return { type: "inspected", isCurrent: catalogue.length + limits.length === 0 };
    }
    case "open":
      place = request;
      opened();
      return done;
    case "create":
      return commit(({ insert }) => insert(request.rows));
    case "createOnce":
      return commit(({ catalogue }) => addAllOnce(catalogue, request.creates));
    case "noisy": {
      const { keyId, minuteLabel, nowMs } = request;
      const { catalogue, limits } = opened();
      const note = () => transactOn(catalogue, () => noteNoisyMinute(keyId, minuteLabel, nowMs));
      const isBan = patiently(note);
      if (!isBan) return done;
      perform(limits, countBan(keyId, nowMs));
      return { type: "banned" };
    }
    case "checkpoint":
      opened().limits.run("PRAGMA wal_checkpoint(PASSIVE)");
      return done;
    case "count":
      return { type: "counted", animals: countPets(opened().catalogue) };
    case "probe": {
      const { catalogue } = opened();
      patiently(() => probe(catalogue, request.write));
      return done;
    }
    case "close":
      close();
      return done;
  }
}

/** Runs creates, all in one transaction, and measures it. */
function commit(create: (writer: Writer) => readonly bigint[] | readonly KeptCreate[]): Result {
  const startMs = performance.now();
  const to = opened();
  const results = patiently(() => create(to));
  return { type: "committed", results, commitMs: performance.now() - startMs };
}

function close(): void {
  if (writer === undefined) return;
  const { catalogue, limits } = writer;
  writer = undefined;
  for (const db of [catalogue, limits]) {
    try {
      // The last one to close a database checkpoints it; where another process goes on, this is
      // enough.
      db.run("PRAGMA wal_checkpoint(PASSIVE)");
    } catch {
      // A full disk: what was committed is safe in the log, and is folded in when there is room.
    }
    db.close(true);
  }
}

self.onmessage = ({ data }: MessageEvent<WriterRequest & { readonly id: number }>) => {
  let result: Result;
  try {
    result = handle(data);
  } catch (error) {
    const { code = "", message } = error as Error & { code?: string };
    result = { type: "failed", code, message };
  }
  postMessage({ ...result, id: data.id } satisfies WriterReply);
};
