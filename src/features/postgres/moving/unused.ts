import { AppError } from "../../../domain/errors.ts";
import { describeAddress, parseDatabaseAddress } from "../address.ts";
import { connect } from "../connections.ts";
import { explainRefusal } from "../failures.ts";

/** How long a session of a process that has ended may still be listed, and how often to look. */
const lingerMs = 1_000;
const pauseMs = 50;

/**
 * Throws `unavailable` while another process of rehome is connected to the database. A server asks
 * it four times a second, so it always is.
 */
export async function requireUnusedDatabase(address: string, timeoutMs: number): Promise<void> {
  const parsed = parseDatabaseAddress(address);
  const where = describeAddress(parsed);
  const sql = connect(parsed, { max: 1, timeoutMs });
  // An address may give its sessions another name.
  const isUsed = async () => {
    const found = (await sql`
      SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND application_name IN ('rehome', current_setting('application_name'))
      LIMIT 1`) as unknown[];
    return found.length > 0;
  };
  try {
    const endMs = performance.now() + lingerMs;
    while (await isUsed()) {
      if (performance.now() > endMs) {
        throw new AppError("unavailable", `${where} is in use by another process.`, {
          hint: "Stop rehome on every machine, then try again. To see who is connected: SELECT * FROM pg_stat_activity WHERE application_name = 'rehome';",
        });
      }
      await Bun.sleep(pauseMs);
    }
  } catch (error) {
    throw explainRefusal(error, where);
  } finally {
    await sql.close({ timeout: 0 });
  }
}
