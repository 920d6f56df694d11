/** What a restored copy takes from the catalogue that it replaces, and what it must not bring. */
import { Database } from "bun:sqlite";
import { copyMark, editsMeta, movedMark } from "../../../storage/store-state.ts";
import { addressMeta, backupMeta, endedMeta, storeIdMeta } from "../../meta.ts";
import { distrust } from "../examine-catalogue.ts";
import { placeMeta } from "../../schedule/jobs.ts";
import { madeMeta } from "./made.ts";
import { isDamaged } from "../../../storage/sqlite/connection.ts";
import {
  type Both,
  hasTable,
  keysWithoutSecret,
  type Named,
  reapplyRevocations,
  whoGetsIn,
} from "./revocations.ts";

interface CarriedOver {
  /** Who can get in by the backup, and ended here. */
  readonly ended: Named[];
  /** Who can get in, and could not here. */
  readonly admitted: Named[];
  /** Keys whose secrets have all ended. */
  readonly unusable: Named[];
}

/** The greatest id that a category is given here; people and programs may give greater ones. */
const ownCategoryIdMax = 2n ** 53n;

/**
 * Makes the copy of a backup go on from the old catalogue, which is open in `db` in a transaction if
 * it can be read: who ended there stays so, new ids follow the greater ones of both, and what a
 * store knows of itself is the old one's.
 */
export function carryOver(db: Database | undefined, copy: string, nowMs: number): CarriedOver {
  // A first start that was cut short leaves a database without a table.
  if (db !== undefined && hasTable(db, "key_secrets", "main")) {
    try {
      db.run("ATTACH ? AS restored", [copy]);
      return carryFrom(db, nowMs);
    } catch (error) {
      // A damaged catalogue is what restoring is for.
      if (!isDamaged(error)) throw error;
      db.run("ROLLBACK");
      db.run("DETACH restored");
      db.run("BEGIN EXCLUSIVE");
    }
  }
  using made = openCopy(copy);
  const admitted = whoGetsIn(made, nowMs, "main");
  return { ended: [], admitted, unusable: keysWithoutSecret(made, nowMs, "main") };
}

function carryFrom(db: Database, nowMs: number): CarriedOver {
  distrust(db);
  const share = (table: string) =>
    ["main", "restored"].every((schema) => hasTable(db, table, schema));
  const both: Both = { db, nowMs, share };
  const put = reapplyRevocations(both);
  raiseNumbers(both);
  keepOwnFacts(both);
  const admitted = whoGetsIn(db, nowMs, "restored", share);
  const unusable = keysWithoutSecret(db, nowMs, "restored");
  db.run("COMMIT");
  db.run("DETACH restored");
  db.run("BEGIN EXCLUSIVE");
  const lacksSecret = new Set(unusable.map(({ id }) => id));
  return { ended: put.filter(({ id }) => !lacksSecret.has(id)), admitted, unusable };
}

/** Lets ids go on after those that either catalogue gave, so that none ever means two things. */
function raiseNumbers({ db, share }: Both): void {
  db.run(
    `INSERT INTO restored.sqlite_sequence (name, seq) SELECT name, 0 FROM main.sqlite_sequence AS old
     WHERE NOT EXISTS (SELECT 1 FROM restored.sqlite_sequence AS now WHERE now.name = old.name)
       AND EXISTS (SELECT 1 FROM restored.sqlite_schema AS now WHERE now.name = old.name)`,
  );
  db.run(
    `UPDATE restored.sqlite_sequence AS now SET seq = old.seq FROM main.sqlite_sequence AS old
     WHERE old.name = now.name AND old.seq > now.seq`,
  );
  if (!share("store_state")) return;
  const raise = (select: string) =>
    db.run(
      `INSERT INTO restored.store_state (name, value) ${select}
       ON CONFLICT (name) DO UPDATE SET value = excluded.value
       WHERE CAST(excluded.value AS INTEGER) > CAST(store_state.value AS INTEGER)`,
    );
  raise(`SELECT name, value FROM main.store_state WHERE ${isNumber}`);
  if (!share("categories")) return;
  raise(
    `SELECT 'last_category_id', CAST(max(id) AS TEXT) FROM main.categories
     WHERE id <= ${ownCategoryIdMax} HAVING max(id) IS NOT NULL`,
  );
}

/** The facts that only grow. */
const isNumber = `(name LIKE 'last\\_%' ESCAPE '\\' OR name = '${editsMeta}')`;

/** What a store knows of itself and of its place: no backup may say it. */
const isOwn = `name IN ('${addressMeta}', '${backupMeta}')
  OR name LIKE '${madeMeta}%' OR name LIKE '${placeMeta}%'`;

/** Gives the copy the old store's id, its places, its list of backups and when the next is due. */
function keepOwnFacts({ db, share }: Both): void {
  if (share("store_state")) {
    db.run(
      `INSERT OR REPLACE INTO restored.store_state (name, value)
       SELECT name, value FROM main.store_state WHERE ${isOwn} OR name = '${storeIdMeta}'`,
    );
  }
  if (!share("schedule")) return;
  const columns =
    "name, kind, target, every_ms, next_at_ms, tried_at_ms, succeeded_at_ms, failures";
  db.run(
    `INSERT INTO restored.schedule (${columns}, problem, paused)
     SELECT ${columns}, problem, paused FROM main.schedule WHERE kind = 'backup'`,
  );
}

/**
 * Ends every session and link of the copy, and forgets what it says of its place: new links and
 * backups would go where the backup's maker wants. What ended has ended by `nowMs`, and a number
 * that is none of ours is left out.
 */
export function endVisits(copy: string, nowMs: number): void {
  using db = openCopy(copy);
  const has = (table: string) => hasTable(db, table, "main");
  for (const table of ["sessions", "invitations"]) {
    if (has(table)) db.run(`DELETE FROM ${table}`);
  }
  if (has("schedule")) db.run("DELETE FROM schedule WHERE kind = 'backup'");
  if (!has("store_state")) return;
  db.run(`DELETE FROM store_state WHERE ${isOwn} OR name IN (?, ?)`, [movedMark, copyMark]);
  db.run(
    `UPDATE store_state SET value = CAST(min(CAST(value AS INTEGER), ?1) AS TEXT)
     WHERE name LIKE '${endedMeta}%'`,
    [nowMs],
  );
  db.run(
    `DELETE FROM store_state WHERE ${isNumber} AND (value GLOB '*[^0-9]*' OR CAST(value AS INTEGER) > ${ownCategoryIdMax})`,
  );
}

/** Pauses followed lists. With `follows` only those whose credential the backup lacks. */
export function pauseSources(
  copy: string,
  follows: boolean,
): { readonly pausedSources: number; readonly missingSecrets: string[] } {
  using db = openCopy(copy);
  if (!hasTable(db, "sources", "main")) return { pausedSources: 0, missingSecrets: [] };
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
  if (!hasTable(db, "sources", "main")) return;
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
