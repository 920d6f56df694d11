/** What a restore must not bring back: who was revoked or removed since, and ids given since. */
import { Database } from "bun:sqlite";
import { distrust } from "../../examine-catalogue.ts";
import { addressMeta, backupMeta, endedMeta } from "../../../storage/store-state.ts";

export const namedKinds = ["key", "person"] as const;

/** Somebody who can get in: a key, or a person of the console. */
export interface Named {
  readonly kind: (typeof namedKinds)[number];
  readonly id: string;
  readonly name: string;
}

/** The greatest id that a category is given here; people and programs may give greater ones. */
const ownCategoryIdMax = 2n ** 53n;

/**
 * Makes the copy of a backup go on from the old catalogue, which is open in `db` in a transaction:
 * keys that were revoked there, secrets that ended and people who were removed stay so, and new ids
 * follow the greater ones of both. Returns the keys and people that would have got in.
 */
export function carryOver(db: Database, copy: string): Named[] {
  distrust(db);
  db.run("ATTACH ? AS restored", [copy]);
  const isShared = (table: string) =>
    ["main", "restored"].every((schema) => hasTable(db, table, schema));
  const remembers = isShared("store_state");
  const ended: Named[] = [];
  for (const each of [keys, people, secrets]) {
    if (!isShared(each.table)) continue;
    const rows = endedRows(each, remembers);
    ended.push(...endSince(db, each, rows));
    if (remembers) remember(db, each, rows);
  }
  raiseNumbers(db, isShared);
  db.run("COMMIT");
  db.run("DETACH restored");
  db.run("BEGIN EXCLUSIVE");
  return ended;
}

interface Ending {
  readonly kind: Named["kind"] | "secret";
  readonly table: string;
  /** The id of the row `now`. */
  readonly id: string;
  /** When it ended, in milliseconds. */
  readonly column: string;
}

const keys = { kind: "key", table: "api_keys", id: "now.id", column: "revoked_at_ms" } as const;
const people = { kind: "person", table: "people", id: "now.id", column: "removed_at_ms" } as const;
const secrets = {
  kind: "secret",
  table: "key_secrets",
  id: "hex(now.hash)",
  column: "expires_at_ms",
} as const;

/** Selects who ended in the old catalogue or, as it remembers, in one before it. */
function endedRows({ kind, table, id, column }: Ending, remembers: boolean): string {
  const own = `SELECT ${id} AS id, ${column} AS at FROM main.${table} AS now
    WHERE ${column} IS NOT NULL`;
  const fact = `${endedMeta}${kind} `;
  return remembers
    ? `${own} UNION SELECT substr(name, ${fact.length + 1}), CAST(value AS INTEGER)
       FROM main.store_state WHERE name LIKE '${fact}%'`
    : own;
}

function remember(db: Database, { kind, table, id }: Ending, rows: string): void {
  db.run(
    `INSERT OR IGNORE INTO restored.store_state (name, value)
     SELECT '${endedMeta}${kind} ' || old.id, CAST(old.at AS TEXT) FROM (${rows}) AS old
     WHERE old.id NOT IN (SELECT ${id} FROM restored.${table} AS now)`,
  );
}

/** Ends these of the copy. Returns the keys and people who would have got in. */
function endSince(db: Database, { kind, table, id, column }: Ending, rows: string): Named[] {
  const who = `SELECT '${kind}' AS kind, id, name FROM restored.${table}
    WHERE ${column} IS NULL AND id IN (SELECT id FROM (${rows}))`;
  const ended = kind === "secret" ? [] : db.query<Named, []>(who).all();
  db.run(
    `UPDATE restored.${table} AS now SET ${column} = old.at FROM (${rows}) AS old
     WHERE old.id = ${id} AND old.at < coalesce(now.${column}, ${2n ** 62n})`,
  );
  for (const key of ended.filter((each) => each.kind === "key")) {
    db.run(
      `INSERT INTO restored.key_events (key_id, at_ms, actor, action, before, after)
       SELECT key_id, at_ms, actor, action, before, after FROM main.key_events
       WHERE key_id = ? AND action = 'revoke'`,
      [key.id],
    );
  }
  return ended;
}

/** Lets ids go on after those that either catalogue gave, so that none ever means two things. */
function raiseNumbers(db: Database, isShared: (table: string) => boolean): void {
  db.run(
    `INSERT INTO restored.sqlite_sequence (name, seq) SELECT name, 0 FROM main.sqlite_sequence AS old
     WHERE NOT EXISTS (SELECT 1 FROM restored.sqlite_sequence AS now WHERE now.name = old.name)
       AND EXISTS (SELECT 1 FROM restored.sqlite_schema AS now WHERE now.name = old.name)`,
  );
  db.run(
    `UPDATE restored.sqlite_sequence AS now SET seq = old.seq FROM main.sqlite_sequence AS old
     WHERE old.name = now.name AND old.seq > now.seq`,
  );
  if (!isShared("store_state")) return;
  const raise = (select: string) =>
    db.run(
      `INSERT INTO restored.store_state (name, value) ${select}
       ON CONFLICT (name) DO UPDATE SET value = excluded.value
       WHERE CAST(excluded.value AS INTEGER) > CAST(store_state.value AS INTEGER)`,
    );
  raise("SELECT name, value FROM main.store_state WHERE name LIKE 'last\\_%' ESCAPE '\\'");
  if (!isShared("categories")) return;
  raise(
    `SELECT 'last_category_id', CAST(max(id) AS TEXT) FROM main.categories
     WHERE id <= ${ownCategoryIdMax} HAVING max(id) IS NOT NULL`,
  );
}

/**
 * Ends every session and link of the copy, forgets where its console and its backups were, and
 * pauses its followed lists: new links and pulls would lead where the backup's maker wants. With
 * `follows` only lists are paused whose credential the backup lacks.
 */
export function endVisits(
  copy: string,
  follows: boolean,
): { readonly pausedSources: number; readonly missingSecrets: string[] } {
  using db = openCopy(copy);
  for (const table of ["sessions", "invitations"]) {
    if (hasTable(db, table)) db.run(`DELETE FROM ${table}`);
  }
  if (hasTable(db, "store_state")) {
    db.run("DELETE FROM store_state WHERE name IN (?, ?)", [addressMeta, backupMeta]);
  }
  if (!hasTable(db, "sources")) return { pausedSources: 0, missingSecrets: [] };
  const missing = "SELECT name FROM sources WHERE secret = ''";
  const pause = `UPDATE schedule SET paused = 'restore' WHERE kind = 'pull' AND paused IS NULL
    ${follows ? `AND target IN (${missing})` : ""} RETURNING name`;
  return {
    pausedSources: db.query(pause).all().length,
    missingSecrets: db
      .query<{ name: string }, []>(`${missing} ORDER BY name`)
      .all()
      .map(({ name }) => name),
  };
}

/** Empties the credentials of followed lists in a copy, also in what was free of its pages. */
export function blankSecrets(copy: string): void {
  using db = openCopy(copy);
  if (!hasTable(db, "sources")) return;
  db.run("PRAGMA journal_mode = MEMORY");
  db.run("PRAGMA secure_delete = ON");
  db.run("UPDATE sources SET secret = '' WHERE secret IS NOT NULL");
}

/** Opens a copy of a backup, to change it. */
export function openCopy(copy: string): Database {
  const db = new Database(copy, { readwrite: true, create: false });
  distrust(db);
  return db;
}

function hasTable(db: Database, name: string, schema = "main"): boolean {
  const sql = `SELECT 1 FROM ${schema}.sqlite_schema WHERE type = 'table' AND name = ?`;
  return db.query(sql).get(name) !== null;
}

/** The keys and people of a catalogue that can get in. */
export function whoGetsIn(db: Database): Named[] {
  const keys = "SELECT 'key' AS kind, id, name FROM api_keys WHERE revoked_at_ms IS NULL";
  const people = "SELECT 'person' AS kind, id, name FROM people WHERE removed_at_ms IS NULL";
  return [keys, ...(hasTable(db, "people") ? [people] : [])].flatMap((sql) =>
    db.query<Named, []>(sql).all(),
  );
}
