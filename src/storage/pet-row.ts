/** What both databases read of animals and secrets for requests, and write of animals. */
import { and, asc, eq, gt, sql, type SQL } from "drizzle-orm";
import { type Pet, petFieldNames, type PetStatus } from "../domain/pet.ts";
import type { AddedPet } from "./contract.ts";
import type { Db, Tables } from "./database.ts";

/** A row with the fields of an animal by their names: what is absent is null. */
export interface PetRow {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: PetStatus | null;
}

/** The statements of requests, in Drizzle's builders: each database prepares them in its way. */
export function hotStatements(db: Pick<Db, "select">, { keySecrets, pets }: Tables) {
  const given = (name: string) => sql.placeholder(name);
  const { id, name, categoryId, status } = pets;
  const select = () => db.select({ id, name, categoryId, status }).from(pets);
  const isAfter = gt(id, given("after"));
  const page = (isWanted: SQL | undefined) =>
    select().where(isWanted).orderBy(asc(id)).limit(given("limit"));
  const { hash, keyId, expiresAtMs } = keySecrets;
  return {
    page: page(isAfter),
    pageOfStatus: page(and(eq(status, given("status")), isAfter)),
    byId: select().where(eq(id, given("id"))),
    secret: db
      .select({ keyId, expiresAtMs })
      .from(keySecrets)
      .where(eq(hash, given("hash"))),
  };
}

export const createdFields = [...petFieldNames, "createdAtMs", "createdBy"] as const;

/** The values of `createdFields`. A list of them costs less to send to a thread than an object. */
export type CreatedRow = readonly (string | bigint | number | null)[];

export function createdRow(pet: AddedPet): CreatedRow {
  return createdFields.map((name) => pet[name] ?? null);
}

/** The animal in a row, which may have other columns too: what is absent is absent, not null. */
export function petOfRow({ id, name, categoryId, status }: PetRow): Pet {
  return status === null ? { id, name, categoryId } : { id, name, categoryId, status };
}
