/** Bugs that the histories have to find, as changes of the source's text. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { StoreKind } from "./history.ts";

export interface Mutant {
  readonly name: string;
  /** Where it shows. */
  readonly store: StoreKind;
  readonly file: string;
  /** Each text stands in the file once; what takes its place comes second. */
  readonly edits: readonly (readonly [find: string, replace: string])[];
}

const animalsInMemory: readonly Mutant[] = [
  {
    name: "answers stay in memory after a commit of another process",
    store: "processes",
    file: "src/storage/sqlite/watch.ts",
    edits: [
      [
        "const now = this.#dataVersion.get()?.data_version;",
        "const now = this.#seen ?? this.#dataVersion.get()?.data_version;",
      ],
    ],
  },
  {
    name: "a snapshot lasts for ten milliseconds",
    store: "processes",
    file: "src/storage/sqlite/watch.ts",
    edits: [
      ["withPeers: 0.1,", "withPeers: 10,"],
      [
        "    setImmediate(() => {\n      this.#isEndPlanned = false;\n      this.endTurn();\n    });",
        "    setTimeout(() => {\n      this.#isEndPlanned = false;\n      this.endTurn();\n    }, 10);",
      ],
    ],
  },
  {
    name: "a page that was read before a change stays in memory after it",
    store: "postgres",
    file: "src/http/response-cache.ts",
    edits: [["      if (this.#others.get(id) !== rendering) return;\n", ""]],
  },
  {
    name: "pages of a status stay in memory when an animal changes",
    store: "sqlite",
    file: "src/http/response-cache.ts",
    edits: [
      [
        "    this.#followed.clear();\n",
        "    for (const id of this.#followed.keys())\n      if (!/[a-z]/.test(id)) this.#followed.delete(id);\n",
      ],
    ],
  },
  {
    name: "a poll does not tell of changes by others",
    store: "postgres",
    file: "src/features/postgres/versions.ts",
    edits: [["if (found.edits !== this.#seen?.edits || !isTrusted)", "if (!isTrusted)"]],
  },
  {
    name: "a server does not see its own creates at once",
    store: "postgres",
    file: "src/features/postgres/pets.ts",
    edits: [["    onChange();\n", ""]],
  },
];

const commits: readonly Mutant[] = [
  {
    name: "a create is acknowledged before its commit",
    store: "sqlite",
    file: "src/storage/sqlite/writer.worker.ts",
    edits: [
      [
        "    result = await handle(request, sinceMs);\n",
        `    const early = (results: bigint[]) => {
      postMessage({ type: "committed", results, commitMs: 0, id });
      return results;
    };
    result =
      request.type === "create"
        ? await committed(
            opened().db.writes.committed((prepare) => {
              const insert = prepare(start().insertPet);
              return early(request.rows.map((row) => insert.run(...row).lastInsertRowid as bigint));
            }),
          )
        : await handle(request, sinceMs);\n`,
      ],
    ],
  },
  {
    name: "ids are drawn before the lock that orders creates",
    store: "postgres",
    file: "src/features/postgres/pets.ts",
    edits: [["FROM raised, unnest(", "FROM unnest("]],
  },
  {
    name: "a change takes its place in the order after its work",
    store: "postgres",
    file: "src/storage/database.ts",
    edits: [
      [
        "  if (isOrdered) await tx.run(sql`UPDATE rehome.catalogue SET version = version + 1`);\n",
        "",
      ],
      [
        "  if (isOrdered && more !== 0) {\n    await tx.run(sql`UPDATE rehome.catalogue SET animals",
        "  if (isOrdered) {\n    await tx.run(sql`UPDATE rehome.catalogue SET version = version + 1, animals",
      ],
    ],
  },
  {
    name: "an import commits its first half by itself",
    store: "postgres",
    file: "src/features/import/do/import.ts",
    edits: [
      [
        "import { type Database, longWork, type Tx } from",
        'import { sql } from "drizzle-orm";\nimport { type Database, longWork, type Tx } from',
      ],
      [
        "    await change.add(pets);\n",
        `    const half = Math.ceil(pets.length / 2);
    await change.add(pets.slice(0, half));
    await change.tx.run(sql\`COMMIT\`);
    await change.tx.run(sql\`BEGIN\`);
    if (half < pets.length) await change.add(pets.slice(half));\n`,
      ],
    ],
  },
  {
    name: "an undo forgets that it undid",
    store: "sqlite",
    file: "src/features/animals/undo.ts",
    edits: [
      [
        "  await tx.update(changes).set({ undoneIn: undo.id }).where(eq(changes.id, change.id));\n",
        "  await tx.update(changes).set({ undoneIn: null }).where(eq(changes.id, change.id));\n",
      ],
    ],
  },
];

const createsOnce: readonly Mutant[] = [
  {
    name: "a create is repeated for the key of somebody else",
    store: "sqlite",
    file: "src/storage/idempotent-create.ts",
    edits: [["and(eq(keys.keyId, keyId), eq(keys.value, value),", "and(eq(keys.value, value),"]],
  },
  {
    name: "an Idempotency-Key is forgotten by a restart",
    store: "sqlite",
    file: "src/storage/idempotent-create.ts",
    edits: [
      ["const forgottenMax = 16;\n", "const forgottenMax = 16;\nconst startedMs = Date.now();\n"],
      [
        "gt(keys.atMs, nowMs - rememberedMs)));",
        "gt(keys.atMs, Math.max(startedMs, nowMs - rememberedMs))));",
      ],
    ],
  },
  {
    name: "two servers carry out the same create at once",
    store: "postgres",
    file: "src/storage/idempotent-create.ts",
    edits: [
      [
        "const late = await storedCreate(tx, create);",
        'const late = tx.dialect === "postgres" ? undefined : await storedCreate(tx, create);',
      ],
    ],
  },
];

const backups: readonly Mutant[] = [
  {
    name: "a backup lacks what is only in the log",
    store: "sqlite",
    file: "src/storage/sqlite/backup.ts",
    edits: [
      ["  closeSync,\n", "  closeSync,\n  copyFileSync,\n"],
      ['    db.run("VACUUM INTO ?", [partial]);\n', "    copyFileSync(source, partial);\n"],
    ],
  },
  {
    name: "a restore lets a revoked key in again",
    store: "sqlite",
    file: "src/features/operate/backup/carry-over.ts",
    edits: [["[keys, people, secrets]", "[people, secrets]"]],
  },
  {
    name: "ids are given again after a restore",
    store: "sqlite",
    file: "src/features/operate/backup/carry-over.ts",
    edits: [["  raiseNumbers(db, isShared);\n", "  void raiseNumbers;\n"]],
  },
];

const limits: readonly Mutant[] = [
  {
    name: "a reservation is paid after its use",
    store: "sqlite",
    file: "src/storage/sqlite/windows.ts",
    edits: [
      ["const texts = {\n", "const unpaid = new Map<string, number>();\n\nconst texts = {\n"],
      [
        "  const stored = row === null ? unusedCounts : countsIn(row);\n",
        `  const paid = row === null ? unusedCounts : countsIn(row);
  const owed = unpaid.get(keyId) ?? 0;
  const stored = { ...paid, minuteUsed: paid.minuteUsed + owed, dayUsed: paid.dayUsed + owed };\n`,
      ],
      [
        "    statements.put.run(keyId, minuteLabel, minuteUsed, dayLabel, dayUsed, address);\n",
        `    const { granted } = result;
    unpaid.set(keyId, granted);
    const [minutePaid, dayPaid] = [minuteUsed - granted, dayUsed - granted];
    statements.put.run(keyId, minuteLabel, minutePaid, dayLabel, dayPaid, address);\n`,
      ],
    ],
  },
  {
    name: "a reservation is given back twice",
    store: "sqlite",
    file: "src/domain/windows.ts",
    edits: [["Math.max(0, used - unused.count)", "Math.max(0, used - 2 * unused.count)"]],
  },
  {
    name: "a stop gives no reservation back",
    store: "sqlite",
    file: "src/service/limiter.ts",
    edits: [
      [
        "      const back = account.giveBack();\n      if (back !== undefined) requests.push(back);\n    }\n    await this.#giveBack(requests);\n",
        "      account.giveBack();\n    }\n    await this.#giveBack(requests);\n",
      ],
    ],
  },
  {
    name: "a window that is moved back loses its count",
    store: "sqlite",
    file: "src/domain/windows.ts",
    edits: [["minuteLabel > counts.minuteLabel ? 0", "minuteLabel !== counts.minuteLabel ? 0"]],
  },
  {
    name: "a window that the clock has seen is left at once",
    store: "sqlite",
    file: "src/domain/windows.ts",
    edits: [["return label === current + 1 ? label : current;", "return current;"]],
  },
  {
    name: "Remaining is one too many when a reservation is used up",
    store: "sqlite",
    file: "src/domain/windows.ts",
    edits: [
      [
        "limits.perMinute - counts.minuteUsed + ahead",
        "limits.perMinute - counts.minuteUsed + (ahead || 1)",
      ],
    ],
  },
  {
    name: "a request that is refused is charged",
    store: "sqlite",
    file: "src/service/account.ts",
    edits: [
      ["  readonly #noise = {", "  #refused = 0;\n  readonly #noise = {"],
      [
        "    const { key } = this;\n    const view = windowView(",
        "    const { key } = this;\n    this.#refused += 1;\n    const view = windowView(",
      ],
      [
        '  #takeBack(): ReserveRequest["unused"] {\n',
        '  #takeBack(): ReserveRequest["unused"] {\n    this.#left -= this.#refused;\n    this.#refused = 0;\n',
      ],
    ],
  },
  {
    name: "each process counts a whole limit",
    store: "processes",
    file: "src/storage/sqlite/windows.ts",
    edits: [
      ["const texts = {\n", "const own = new Map<string, WindowCounts>();\n\nconst texts = {\n"],
      [
        "  const stored = row === null ? unusedCounts : countsIn(row);\n",
        "  const stored = own.get(keyId) ?? (row === null ? unusedCounts : countsIn(row));\n",
      ],
      ["  if (mustPut) {\n", "  if (mustPut) {\n    own.set(keyId, result.counts);\n"],
    ],
  },
  {
    name: "each server on PostgreSQL counts a whole limit",
    store: "postgres",
    file: "src/features/postgres/windows.ts",
    edits: [
      [
        "async function commitReservations(",
        "const own = new Map<string, WindowCounts>();\n\nasync function commitReservations(",
      ],
      [
        "  const { results, changed, usage, endedDays } = decide(calls, locked.counts, nowMs);\n",
        `  for (const id of locked.counts.keys()) {
    const counts = own.get(id);
    if (counts !== undefined) locked.counts.set(id, counts);
  }
  const { results, changed, usage, endedDays } = decide(calls, locked.counts, nowMs);
  for (const [id, counts] of changed) own.set(id, counts);\n`,
      ],
    ],
  },
];

const keys: readonly Mutant[] = [
  {
    name: "a change of a key is stored under the epoch before it",
    store: "processes",
    file: "src/storage/keys.ts",
    edits: [
      [
        ".set({ ...rowOf(after), changedIn })",
        ".set({ ...rowOf(after), changedIn: changedIn - 1 })",
      ],
    ],
  },
  {
    name: "a server on PostgreSQL does not learn of changed keys",
    store: "postgres",
    file: "src/features/postgres/versions.ts",
    edits: [["    this.#keys = Math.max(this.#keys, this.#versionOf(found.epoch));\n", ""]],
  },
];

export const mutants: readonly Mutant[] = [
  ...animalsInMemory,
  ...commits,
  ...createsOnce,
  ...backups,
  ...limits,
  ...keys,
];

/** The text of the mutant's file with the bug in it. Throws where the file has changed. */
export function mutated(root: string, { name, file, edits }: Mutant): string {
  let text = readFileSync(join(root, file), "utf8");
  for (const [find, replace] of edits) {
    const parts = text.split(find);
    if (parts.length !== 2)
      throw new Error(`"${name}": ${file} has this ${parts.length - 1} times: ${find}`);
    text = parts.join(replace);
  }
  return text;
}
