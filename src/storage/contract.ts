/**
 * The interface of a store, with one implementation per database. Every call rejects with AppError
 * `unavailable` when the database does not respond in time.
 */
import type { ApiKey } from "../domain/api-key.ts";
import type { PageQuery, NewPet, Pet } from "../domain/pet.ts";
import type { ReserveRequest, Reserved } from "../domain/windows.ts";
import type { Database } from "./database.ts";
import type { KeyStore } from "./keys.ts";

export type { ReserveRequest, Reserved };

/** SHA-256 of a key's secret: what is stored of it. */
export type KeyHash = Uint8Array & { readonly KeyHash: unique symbol };

export interface CommitReport {
  readonly batchSize: number;
  readonly commitMs: number;
}

/** An animal to be added. Its origin is in its own row, so that a create writes nothing else. */
export type AddedPet = NewPet & {
  readonly createdAtMs?: number | undefined;
  readonly createdBy?: string | undefined;
  readonly createdIn?: bigint | undefined;
};

export interface IdempotentCreate {
  readonly pet: NewPet;
  readonly keyId: string;
  readonly value: string;
  /** SHA-256 of the animal sent: the same key with another animal is an error. */
  readonly bodyHash: Uint8Array;
  readonly nowMs: number;
}

/** The result: the animal was added, now or earlier; or the key belongs to another animal. */
export interface StoredCreate {
  readonly id: bigint;
  readonly outcome: "added" | "repeated" | "other body";
}

export interface PetStore {
  /** At most `limit` animals in ascending id order, above `after`, of `status` where given. */
  page(query: PageQuery): Promise<Pet[]>;
  byId(id: bigint): Promise<Pet | undefined>;
  /**
   * Adds an animal. Resolves with its id once it is durable. Parallel creates share a commit. Adds
   * nothing and rejects with `invalid_request` if `signal` is aborted before the commit begins.
   */
  create(pet: AddedPet, signal?: AbortSignal): Promise<bigint>;
  /**
   * The same for an animal that is added once, however often and by whichever process it is sent
   * within a day. The Idempotency-Key is stored in the same transaction.
   */
  createOnce(create: IdempotentCreate): Promise<StoredCreate>;
  count(): Promise<number>;
}

export interface Credential {
  readonly key: ApiKey;
  readonly secretExpiresAtMs: number | undefined;
}

export interface KeyAction {
  readonly action: string;
  readonly actor: string;
  readonly nowMs: number;
}

/** Refusals of a key in one UTC day (days since the epoch), which its windows do not count. */
export interface UsageDelta {
  readonly keyId: string;
  readonly day: number;
  readonly refusals: number;
}

export interface WindowStore {
  /**
   * Reserves for all requests, reads the time and stores `usage`, in one transaction. Resolves
   * after the commit. Throws `unavailable` when there was none in time: the outcome is then
   * unknown, so the caller must not return the unused requests again.
   */
  reserve(requests: readonly ReserveRequest[], usage: readonly UsageDelta[]): Promise<Reserved[]>;
  /**
   * How far the clock of reservations is ahead of this machine's, in milliseconds; 0 if it is this
   * machine's. It is never too low: a reservation must not outlive its window on that clock.
   */
  skewMs(): number;
  /** A number that changes whenever another process may have changed the windows. Never waits. */
  version(): number;
}

/** Numbers that rise with each change made by any process. */
export interface StoreVersions {
  readonly keys: number;
  readonly pets: number;
  /**
   * Rises with each change of animals that may be more than additions at the end. While it stays, a
   * page with a next page stays the same.
   */
  readonly edits: number;
}

export interface StoreCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface Store {
  /** Where the data are, as messages show it: a folder, or an address without its password. */
  readonly place: string;
  /** Resolves once all its threads are at work: a server answers nobody before. */
  readonly started: Promise<void>;
  /** The catalogue: whatever is not on the path of a request is asked here. */
  readonly db: Database;
  /** The counters, which SQLite keeps in a file of their own: no transaction spans both. */
  readonly counters: Database;
  readonly pets: PetStore;
  readonly keys: KeyStore;
  readonly windows: WindowStore;
  versions(): StoreVersions;
  /**
   * Begins a request, where others' changes are not seen at once. Undefined while `versions()`
   * includes every change older than a second; else resolves once it does, or rejects with
   * `unavailable`. Until then, nothing cached in memory may be used.
   */
  current?(): Promise<void> | undefined;
  check(): Promise<StoreCheck[]>;
  close(): Promise<void>;
}
