// What durable creates cost without a shared commit: a bare Bun.serve with an INSERT of its
// own, synced to the disk, for every request (SQLite, WAL, synchronous=FULL).
import { Database } from "bun:sqlite";
import type { Captured } from "./measure.ts";

process.env.NODE_ENV = "production";

const { status, headers } = (await Bun.file(process.env.RESPONSE ?? "").json()) as Captured;

const db = new Database(process.env.DATABASE ?? "", { create: true, strict: true });
db.run("PRAGMA journal_mode = WAL");
db.run("PRAGMA synchronous = FULL");
db.run(
  "CREATE TABLE IF NOT EXISTS pets (id INTEGER PRIMARY KEY, name TEXT NOT NULL, category_id INTEGER NOT NULL, status TEXT) STRICT",
);
const insert = db.query("INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)");

interface NewPet {
  name: string;
  categoryId: number;
  status?: string;
}

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT),
  development: false,
  async fetch(request) {
    const pet = (await request.json()) as NewPet;
    const { lastInsertRowid } = insert.run(pet.name, pet.categoryId, pet.status ?? null);
    return new Response(JSON.stringify({ id: lastInsertRowid, ...pet }), { status, headers });
  },
});
