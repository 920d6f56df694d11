/** Whether a take may be done again, by the moment at which its connection was lost. */
import { SQL, type ReservedSQL } from "bun";
import { expect, test } from "bun:test";
import { migrate, postgresMigrations } from "../../../src/features/postgres/migrate.ts";
import { windowStore } from "../../../src/features/postgres/windows.ts";
import { hookTimeoutMs, testDatabase } from "../../../test/helpers/postgres.ts";

const lost = new SQL.PostgresError("the connection was reset", {
  code: "ERR_POSTGRES_CONNECTION_CLOSED",
});
const request = { keyId: "key", limits: { perMinute: 9, perDay: 9 }, want: 2, unused: undefined };

/** `client`, which loses the connection once the server has done the statement. */
function losing(client: ReservedSQL, statement: string): ReservedSQL {
  return new Proxy(client, {
    apply(target, self, values: [TemplateStringsArray, ...unknown[]]) {
      const query = Reflect.apply(target, self, values) as SQL.Query<unknown>;
      if (!values[0][0]?.trim().startsWith(statement)) return query;
      return { execute: () => query.execute().then(() => Promise.reject(lost)) };
    },
  });
}

test.each<[string, boolean, number | undefined]>([
  ["BEGIN", true, undefined],
  ["COMMIT", false, 2],
])(
  "a take whose connection is lost after its %s is done again: %p",
  async (statement, isRepeated, used) => {
    await using database = await testDatabase();
    await migrate(database.sql, "here", postgresMigrations);
    const client = await database.sql.reserve();
    let mayRepeat: boolean | undefined;
    const windows = windowStore(
      {
        async run(work, options) {
          try {
            return await work(losing(client, statement));
          } catch (error) {
            mayRepeat = options?.mayRepeat?.(error);
            throw error;
          }
        },
      },
      { timeoutMs: 1_000, clock: undefined, version: () => 0, skewMs: () => 0 },
    );
    expect(await windows.reserve([request], []).catch((error: unknown) => error)).toBe(lost);
    await client.release();
    expect(mayRepeat).toBe(isRepeated);
    const [stored] = (await database.sql`
      SELECT minute_used::int AS used FROM rehome.rate_windows WHERE minute_used > 0`) as {
      used: number;
    }[];
    expect(stored?.used).toBe(used);
  },
  hookTimeoutMs,
);
