// The database of the two Node peers, opened as better-sqlite3's own README shows.
import Database from "better-sqlite3";
import { statements, hashOf, page, toPet } from "./sql.js";

/**
 * Opens DATABASE. SYNCHRONOUS=FULL makes every create durable; else it has better-sqlite3's default
 * for WAL.
 */
export function openStore() {
  const db = new Database(process.env.DATABASE, { fileMustExist: true });
  db.pragma("journal_mode = WAL");
  if (process.env.SYNCHRONOUS) db.pragma(`synchronous = ${process.env.SYNCHRONOUS}`);
  const key = db.prepare(statements.key);
  const list = db.prepare(statements.list);
  const listByStatus = db.prepare(statements.listByStatus);
  const get = db.prepare(statements.get);
  const create = db.prepare(statements.create);
  return {
    findKey: (bearer) => key.get(hashOf(bearer)),
    list: (limit, after, status) =>
      page(
        status === undefined
          ? list.all(after, limit + 1)
          : listByStatus.all(status, after, limit + 1),
        limit,
        status,
      ),
    get: (id) => {
      const row = get.get(id);
      return row && toPet(row);
    },
    create: (pet) => {
      const { lastInsertRowid } = create.run(pet.name, pet.categoryId, pet.status ?? null);
      return { id: Number(lastInsertRowid), ...pet };
    },
  };
}
