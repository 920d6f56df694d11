// What the three peers share: the statements and the shape of an answer.
import { createHash } from "node:crypto";

/** The peers' statements, on a database that bench/peers.ts filled. */
export const statements = {
  key: "SELECT id, per_minute AS perMinute FROM api_keys WHERE hash = ?",
  list: "SELECT id, name, category_id AS categoryId, status FROM pets WHERE id > ? ORDER BY id LIMIT ?",
  listByStatus:
    "SELECT id, name, category_id AS categoryId, status FROM pets WHERE status = ? AND id > ? ORDER BY id LIMIT ?",
  get: "SELECT id, name, category_id AS categoryId, status FROM pets WHERE id = ?",
  create: "INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)",
};

/** The stored form of a key. */
export const hashOf = (key) => createHash("sha256").update(key).digest("hex");

/** A row as the contract shows it: an absent status is absent, not null. */
export const toPet = (row) =>
  row.status === null ? { id: row.id, name: row.name, categoryId: row.categoryId } : row;

/** The page and, when more animals match, the Link header's value. */
export function page(rows, limit, status) {
  if (rows.length <= limit) return { pets: rows.map(toPet), link: undefined };
  const pets = rows.slice(0, limit).map(toPet);
  const query = new URLSearchParams({ limit: String(limit) });
  if (status !== undefined) query.set("status", status);
  query.set("after", String(pets[limit - 1].id));
  return { pets, link: `</v1/pets?${query}>; rel="next"` };
}
