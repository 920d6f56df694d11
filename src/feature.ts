import type { Command } from "commander";
import type { Io } from "./cli/io.ts";
import type { AnySetting, LoadedConfig } from "./config.ts";
import type { JobKind } from "./storage/schema.ts";
import type { FeatureRoutes } from "./http/app.ts";
import type { AnsweredRequest } from "./http/handler.ts";
import type { Logger } from "./service/log.ts";
import type { Database } from "./storage/database.ts";
import type { StoreObserver } from "./cli/open.ts";
import type { Store } from "./storage/contract.ts";
import type { SqliteOptions } from "./storage/sqlite/store.ts";

/** A command, made when it is wanted: no start waits for the others. */
export interface CommandEntry {
  /** The words that lead to it: `pets import`. */
  readonly path: string;
  readonly load: () => Promise<(io: Io) => Command>;
  /** True for a command that only programs type. */
  readonly hidden?: boolean;
}

export interface Listening {
  readonly title: string;
  readonly url: string;
  /** What else to tell a person, in lines. */
  readonly more: readonly string[];
}

export interface ServerHooks {
  readonly onResponse?: (request: AnsweredRequest) => void;
  /** Hears of the store's work; the first feature that has one. */
  readonly store?: StoreObserver;
  /**
   * Called once the store is open, before the service listens. Returns what the banner shows, if
   * the feature listens too. Throws AppError when the service cannot start so.
   */
  onStart?(db: Database): Listening | undefined | Promise<Listening | undefined>;
  /** Called once the service responds on `port`. */
  onReady?(port: number): void;
  /** Called once, when the service begins to stop, and awaited before the store is closed. */
  onStop?(): void | Promise<void>;
}

export interface Server {
  readonly loaded: LoadedConfig;
  readonly log: Logger;
  readonly io: Io;
  /**
   * Ends the service, as a signal does. With `drainMs` another process takes over: connections that
   * are kept may be used once more in this time.
   */
  readonly stop: (drainMs?: number) => void;
}

/** What a feature does by the schedule: a command of this program, never one from a store. */
export interface JobCommand {
  readonly kind: JobKind;
  /** The words of the command for a job's target. It stores how it ended, and then exits with 0. */
  readonly words: (target: string) => readonly string[];
  /** For a job that the settings schedule: how often. */
  readonly everyMs?: number | undefined;
  /** For such a job: where the settings have it work. At another place it is due at once. */
  readonly place?: string | undefined;
  /**
   * Hears why each of them failed, or null. Throws AppError to have a warning in the log. `signal`
   * is aborted when the service stops.
   */
  readonly ended?: (problem: string | null, signal: AbortSignal) => Promise<void>;
}

/**
 * A capability that can be removed without a change to the core: settings, commands, routes
 * outside `/v1`, another kind of store, and hooks into the service.
 */
export interface Feature {
  readonly name: string;
  /** Its own settings of the server. It reads one with `LoadedConfig.valueOf`. */
  readonly settings?: readonly AnySetting[];
  readonly commands?: readonly CommandEntry[];
  readonly routes?: (valueOf: LoadedConfig["valueOf"]) => FeatureRoutes | undefined;
  /** The first feature that has it opens the stores that are no folder. */
  readonly openAddress?: (address: string, options: SqliteOptions) => Promise<Store>;
  /** What the settings have it do by the schedule. */
  readonly jobs?: (loaded: LoadedConfig) => readonly JobCommand[];
  /** Serves in a way of its own until it is asked to stop; undefined if no setting asks for it. */
  readonly serve?: (loaded: LoadedConfig, io: Io) => Promise<void> | undefined;
  /** Returns undefined when the settings do not ask for it. */
  readonly hooks?: (server: Server) => Promise<ServerHooks | undefined>;
}
