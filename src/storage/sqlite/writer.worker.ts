/**
 * The writer thread: the only place in a server that changes `rehome.db`. It waits for the disk so that the thread that
 * serves never does, and it checkpoints both files.
 */
import type { Database } from "bun:sqlite";
import { recordNoisyMinute } from "../../domain/ban.ts";
import type { NewPet } from "../../domain/pet.ts";
import { openDatabase } from "./database.ts";
import { keyWriter } from "./keys.ts";
import { petWriter } from "./pets.ts";

export type WriterRequest =
  | { readonly type: "open"; readonly catalogue: string; readonly limits: string }
  | { readonly type: "create"; readonly pets: readonly NewPet[] }
  | {
      readonly type: "noisy";
      readonly keyId: string;
      readonly minuteLabel: number;
      readonly nowMs: number;
    }
  | { readonly type: "checkpoint" }
  | { readonly type: "close" };

export type WriterReply =
  | { readonly type: "created"; readonly ids: readonly bigint[]; readonly commitMs: number }
  | { readonly type: "failed"; readonly code: string; readonly message: string }
  | { readonly type: "closed" };

declare const self: Worker;

interface Writer {
  readonly catalogue: Database;
  readonly limits: Database;
  readonly pets: ReturnType<typeof petWriter>;
  readonly keys: ReturnType<typeof keyWriter>;
}

let writer: Writer | undefined;

function open(cataloguePath: string, limitsPath: string): Writer {
  const catalogue = openDatabase(cataloguePath, { synchronous: "full" });
  const limits = openDatabase(limitsPath, { synchronous: "normal" });
  return { catalogue, limits, pets: petWriter(catalogue), keys: keyWriter(catalogue) };
}

function handle(request: WriterRequest): WriterReply | undefined {
  if (request.type === "open") {
    writer = open(request.catalogue, request.limits);
    return undefined;
  }
  if (writer === undefined) throw new Error("the writer was not opened");
  switch (request.type) {
    case "create": {
      const startMs = performance.now();
      const ids = writer.pets.create(request.pets);
      return { type: "created", ids, commitMs: performance.now() - startMs };
    }
    case "noisy": {
      const { keyId, minuteLabel, nowMs } = request;
      writer.keys.change(keyId, { action: "noisy-minute", actor: "server", nowMs }, (key) => {
        const ban = recordNoisyMinute(key.ban, minuteLabel, nowMs);
        return ban === key.ban ? key : { ...key, ban };
      });
      return undefined;
    }
    case "checkpoint":
      writer.limits.run("PRAGMA wal_checkpoint(PASSIVE)");
      return undefined;
    case "close":
      for (const db of [writer.catalogue, writer.limits]) {
        db.run("PRAGMA wal_checkpoint(TRUNCATE)");
        db.close(true);
      }
      writer = undefined;
      return { type: "closed" };
  }
}

self.onmessage = ({ data }: MessageEvent<WriterRequest>) => {
  let reply: WriterReply | undefined;
  try {
    reply = handle(data);
  } catch (error) {
    const { code = "", message } = error as Error & { code?: string };
    // Only a create has somebody waiting for its answer.
    if (data.type === "create" || data.type === "close") reply = { type: "failed", code, message };
    else
      process.stderr.write(
        `${JSON.stringify({ level: "error", message: `${data.type}: ${message}` })}\n`,
      );
  }
  if (reply !== undefined) postMessage(reply);
};
