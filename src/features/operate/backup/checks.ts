/** All that makes a file a good backup: schema, pages, indexes, references, rules. */
import { Database } from "bun:sqlite";
import { AppError } from "../../../domain/errors.ts";
import type { Migration } from "../../../storage/migration-history.ts";
import { migrationsOf } from "../../../storage/sqlite/files.ts";
import { requirePlainFiles } from "../../../storage/sqlite/folder.ts";
import { migrate, pendingMigrations } from "../../../storage/sqlite/migrate.ts";
import { type Blame, Damage, examine, ofStore, reportingDamage } from "../examine-catalogue.ts";

export const ofBackup = (path: string): Blame => ofStore(path, "Take an earlier backup.");

/** Reads all of a backup: schema, pages, indexes, references. Throws when something is wrong. */
export function verify(path: string, blame: Blame = ofBackup(path)): void {
  requirePlainFiles([path]);
  const hint = "Name a file that rehome backup made.";
  const pending = examine(path, (db) => checkAll(db, path, migrationsOf.catalogue, hint), blame);
  if (pending.length < migrationsOf.catalogue.length) return;
  throw new AppError("unavailable", `${path} holds no catalogue; it is not a backup.`, { hint });
}

/** Checks all of an open database. Returns the migrations that it lacks. Throws for a fault. */
export function checkAll(
  db: Database,
  path: string,
  migrations: readonly Migration[],
  foreignHint?: string,
): readonly Migration[] {
  const pending = pendingMigrations(db, path, migrations, foreignHint);
  // Before a check that computes what a stranger's schema has.
  refuseForeignSchema(db, path, migrations.slice(0, migrations.length - pending.length));
  checkPages(db, path, "integrity_check");
  checkReferences(db);
  return pending;
}

/**
 * Checks the rules of all tables too: SQLite does not know them in a file that it only reads. Nor
 * may a number be near the greatest one: nothing could be added or changed after it.
 */
export function checkRules(db: Database, blame: Blame): void {
  reportingDamage(blame, () => {
    checkPages(db, blame.what, "quick_check");
    const isSpent = `typeof(seq) <> 'integer' OR seq > ${Number.MAX_SAFE_INTEGER}`;
    const spent = db.query<{ name: string }, []>(
      `SELECT name FROM sqlite_sequence WHERE ${isSpent}`,
    );
    for (const { name } of spent.all()) throw new Damage(`the ids of ${name} are used up`);
    const epochs = db.query(`SELECT 1 FROM key_epoch WHERE epoch > ${Number.MAX_SAFE_INTEGER}`);
    if (epochs.get() !== null) throw new Damage("the numbers of changes of keys are used up");
  });
}

/** Throws for a fault. `quick_check` reads all pages, `integrity_check` also compares indexes. */
function checkPages(db: Database, path: string, check: "quick_check" | "integrity_check"): void {
  const rows = db.query<Record<string, string>, []>(`PRAGMA ${check}(1)`).all();
  const [finding = `${check} of ${path} said nothing`] = Object.values(rows[0] ?? {});
  if (finding !== "ok") throw new Damage(finding.replaceAll("\n", " ").replace(/\.$/, ""));
}

function checkReferences(db: Database): void {
  if (db.query("PRAGMA foreign_key_check").get() !== null) {
    throw new Damage("it has rows with broken references");
  }
}

interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly sql: string | null;
}

/**
 * Throws `unavailable` when the database has a table, trigger, view or index that the migrations
 * `applied` do not make, or lacks one. What a stranger has put there would run in this process.
 */
function refuseForeignSchema(db: Database, path: string, applied: readonly Migration[]): void {
  using own = new Database(":memory:");
  migrate(own, ":memory:", applied);
  const ours = new Map(schemaOf(own).map((each) => [`${each.type} ${each.name}`, each.sql]));
  for (const { type, name, sql } of schemaOf(db)) {
    const known = ours.get(`${type} ${name}`);
    if (known === undefined)
      throw foreign(`${path} has the ${type} ${name}, which is not rehome's.`);
    if (known !== sql) throw foreign(`${path} has another ${type} ${name} than rehome's.`);
    ours.delete(`${type} ${name}`);
  }
  const [missing] = ours.keys();
  if (missing !== undefined) throw foreign(`${path} lacks the ${missing}.`);
}

/** What SQLite keeps for itself, as it makes it: a name alone says nothing of who made a table. */
const ownTables = [
  "sqlite_sequence(name,seq)",
  "sqlite_stat1(tbl,idx,stat)",
  "sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
].map((table) => `CREATE TABLE ${table}`);

/** All but SQLite's own. */
function schemaOf(db: Database): SchemaObject[] {
  return db
    .query<SchemaObject, []>("SELECT type, name, sql FROM sqlite_schema")
    .all()
    .filter(({ type, sql }) =>
      type === "table" ? !ownTables.includes(sql ?? "") : type !== "index" || sql !== null,
    );
}

function foreign(message: string): AppError {
  return new AppError("unavailable", message, {
    hint: "Somebody has changed it. Use another backup, or undo the change.",
  });
}
