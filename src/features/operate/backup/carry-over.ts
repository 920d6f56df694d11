/**
 * What a restored copy takes from the catalogue that it replaces, and what it must not bring. Who
 * was put out here stays out, whatever a backup says: a secret by its hash, keys and people by
 * their ids. What the replaced catalogue says of them counts, and what it remembers of those
 * before.
 */
import { Database } from "bun:sqlite";
import { copyMark, editsMeta, movedMark } from "../../../storage/database.ts";
import { addressMeta, backupMeta, endedMeta, storeIdMeta } from "../../meta.ts";
import { distrust } from "../examine-catalogue.ts";
import { placeMeta } from "../../schedule/jobs.ts";
import { madeMeta } from "./keep.ts";
import { isDamaged } from "../../../storage/sqlite/connection.ts";

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

export const namedKinds = ["key", "person"] as const;

/** Somebody who can get in: a key, or a person of the console. */
export interface Named {
  readonly kind: (typeof namedKinds)[number];
  readonly id: string;
  readonly name: string;
}

/** The two catalogues on one connection: `main` is replaced by `restored`, as of `nowMs`. */
interface Both {
  readonly db: Database;
  readonly nowMs: number;
  /** True if both have the table. */
  readonly share: (table: string) => boolean;
}

/** Returns who would have got in by the backup, and does not. */
function reapplyRevocations(both: Both): Named[] {
  const { db, nowMs } = both;
  collectEnded(both);
  const before = whoGetsIn(db, nowMs, "restored");
  endSecrets(db);
  endKeys(db, nowMs);
  if (both.share("people")) endPeople(db);
  if (both.share("store_state")) remember(both);
  const after = new Set(whoGetsIn(db, nowMs, "restored").map(({ id }) => id));
  const ended = before.filter(({ id }) => !after.has(id));
  for (const { id } of ended) copyEvents(db, id);
  return ended;
}

const kinds = ["key", "secret", "person"] as const;

/**
 * Makes a table for each kind: what ended, and when. What the catalogue has its row tells; it
 * remembers only what it does not have.
 */
function collectEnded({ db, nowMs, share }: Both): void {
  const isOver = `revoked_at_ms IS NOT NULL OR key.expires_at_ms <= ${nowMs}`;
  const own = {
    key: "SELECT id, revoked_at_ms AS at FROM main.api_keys WHERE revoked_at_ms IS NOT NULL",
    secret: `SELECT hex(hash) AS id, expires_at_ms AS at FROM main.key_secrets
        WHERE expires_at_ms IS NOT NULL
      UNION ALL SELECT hex(hash), coalesce(revoked_at_ms, key.expires_at_ms)
        FROM main.key_secrets JOIN main.api_keys AS key ON key.id = key_id WHERE ${isOver}`,
    person: share("people")
      ? "SELECT id, removed_at_ms AS at FROM main.people WHERE removed_at_ms IS NOT NULL"
      : "SELECT '' AS id, 0 AS at WHERE false",
  };
  const has = idsIn("main", share);
  for (const kind of kinds) {
    const start = `${endedMeta}${kind} `;
    const remembered = `UNION ALL SELECT substr(name, ${start.length + 1}) AS was,
      min(CAST(value AS INTEGER), ${nowMs}) FROM main.store_state
      WHERE name LIKE '${start}%' AND was NOT IN (${has[kind]})`;
    db.run(`CREATE TEMP TABLE ended_${kind} AS SELECT id, min(at) AS at
      FROM (${own[kind]} ${share("store_state") ? remembered : ""}) GROUP BY id`);
    db.run(`CREATE INDEX temp.ended_${kind}_by_id ON ended_${kind} (id)`);
  }
}

const idsIn = (schema: string, share: Both["share"]) => ({
  key: `SELECT id FROM ${schema}.api_keys`,
  secret: `SELECT hex(hash) FROM ${schema}.key_secrets`,
  person: share("people") ? `SELECT id FROM ${schema}.people` : "SELECT ''",
});

function endSecrets(db: Database): void {
  db.run(
    `UPDATE restored.key_secrets AS now SET expires_at_ms = at FROM ended_secret
     WHERE id = hex(now.hash) AND at < coalesce(now.expires_at_ms, at + 1)`,
  );
}

/** Ends keys by their ids, and those all of whose secrets were a revoked key's by another id. */
function endKeys(db: Database, nowMs: number): void {
  db.run(
    `UPDATE restored.api_keys AS now SET revoked_at_ms = at FROM ended_key AS old
     WHERE old.id = now.id AND at < coalesce(now.revoked_at_ms, at + 1)`,
  );
  const revoked = `SELECT hash FROM main.key_secrets JOIN main.api_keys AS key ON key.id = key_id
    WHERE revoked_at_ms IS NOT NULL`;
  db.run(
    `UPDATE restored.api_keys AS now SET revoked_at_ms = ${nowMs}
     WHERE revoked_at_ms IS NULL
       AND EXISTS (SELECT 1 FROM restored.key_secrets WHERE key_id = now.id)
       AND NOT EXISTS (SELECT 1 FROM restored.key_secrets
         WHERE key_id = now.id AND hash NOT IN (${revoked}))`,
  );
  // What was taken from a key since stays taken.
  db.run(
    `UPDATE restored.api_keys AS now SET expires_at_ms = old.expires_at_ms
     FROM main.api_keys AS old WHERE old.id = now.id
       AND old.expires_at_ms < coalesce(now.expires_at_ms, old.expires_at_ms + 1)`,
  );
  const ban = "banned_until_ms, ban_step, ban_reason, noisy_minutes";
  const bans = ban.split(", ").map((column) => `${column} = old.${column}`);
  db.run(
    `UPDATE restored.api_keys AS now SET ${bans.join(", ")} FROM main.api_keys AS old
     WHERE old.id = now.id AND old.banned_until_ms > now.banned_until_ms`,
  );
}

function endPeople(db: Database): void {
  const here = "FROM main.people WHERE removed_at_ms IS";
  db.run(
    `UPDATE restored.people AS now SET removed_at_ms = at FROM ended_person AS old
     WHERE old.id = now.id AND at < coalesce(now.removed_at_ms, at + 1)`,
  );
  db.run(
    `UPDATE restored.people AS now SET removed_at_ms = old.removed_at_ms FROM main.people AS old
     WHERE now.removed_at_ms IS NULL AND old.removed_at_ms IS NOT NULL AND old.name = now.name
       AND now.name NOT IN (SELECT name ${here} NULL) AND now.id NOT IN (SELECT id ${here} NULL)`,
  );
  // A role is given here, too. Keys can be read-only since there are people.
  db.run(
    `UPDATE restored.people AS now SET role = old.role FROM main.people AS old
     WHERE old.id = now.id`,
  );
  db.run(
    `UPDATE restored.api_keys AS now SET read_only = 1 FROM main.api_keys AS old
     WHERE old.id = now.id AND old.read_only = 1`,
  );
}

/** Keeps what ended and is not in the backup: another backup may have it. */
function remember({ db, share }: Both): void {
  const there = idsIn("restored", share);
  for (const kind of kinds) {
    db.run(
      `INSERT INTO restored.store_state (name, value)
       SELECT '${endedMeta}${kind} ' || id, CAST(at AS TEXT) FROM ended_${kind}
       WHERE id NOT IN (${there[kind]})
       ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    );
  }
}

/** The history of a key goes on with how it ended. */
function copyEvents(db: Database, id: string): void {
  db.run(
    `INSERT INTO restored.key_events (key_id, at_ms, actor, action, before, after)
     SELECT key_id, at_ms, actor, action, before, after FROM main.key_events
     WHERE key_id = ?1 AND action = 'revoke' AND key_id IN (SELECT id FROM restored.api_keys)`,
    [id],
  );
}

const isLive = (nowMs: number) =>
  `revoked_at_ms IS NULL AND coalesce(key.expires_at_ms, ${nowMs} + 1) > ${nowMs}`;

/** The keys that have a secret, and the people. All of them, or those that `main` lets in not. */
function whoGetsIn(
  db: Database,
  nowMs: number,
  schema: string,
  unknownTo?: (table: string) => boolean,
): Named[] {
  const isNew = unknownTo?.("key_secrets")
    ? `AND NOT EXISTS (SELECT 1 FROM main.key_secrets AS old
         WHERE old.hash = secret.hash AND old.key_id = key.id)`
    : "";
  const keys = `SELECT DISTINCT 'key' AS kind, key.id, name FROM ${schema}.api_keys AS key
    JOIN ${schema}.key_secrets AS secret ON key_id = key.id
    WHERE ${isLive(nowMs)} ${isNew}
      AND coalesce(secret.expires_at_ms, ${nowMs} + 1) > ${nowMs}
    ORDER BY key.created_at_ms, key.id`;
  const isNewHere = unknownTo?.("people")
    ? "AND id NOT IN (SELECT id FROM main.people WHERE removed_at_ms IS NULL)"
    : "";
  const people = `SELECT 'person' AS kind, id, name FROM ${schema}.people
    WHERE removed_at_ms IS NULL ${isNewHere} ORDER BY created_at_ms, id`;
  const selects = [keys, ...(hasTable(db, "people", schema) ? [people] : [])];
  return selects.flatMap((sql) => db.query<Named, []>(sql).all());
}

/** Keys that nobody can use though they are active: their secrets ended. A rotation gives one. */
function keysWithoutSecret(db: Database, nowMs: number, schema: string): Named[] {
  return db
    .query<Named, []>(
      `SELECT 'key' AS kind, id, name FROM ${schema}.api_keys AS key WHERE ${isLive(nowMs)}
         AND NOT EXISTS (SELECT 1 FROM ${schema}.key_secrets AS secret
           WHERE key_id = key.id AND coalesce(secret.expires_at_ms, ${nowMs} + 1) > ${nowMs})`,
    )
    .all();
}

function hasTable(db: Database, name: string, schema: string): boolean {
  const sql = `SELECT 1 FROM ${schema}.sqlite_schema WHERE type = 'table' AND name = ?`;
  return db.query(sql).get(name) !== null;
}
