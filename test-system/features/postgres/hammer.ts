/**
 * One process of several on a database: asks for each of the keys again and again until every one
 * is refused, and writes a line for each request that was admitted. Arguments: the database's
 * address, the time by which all count, the number of keys, the file for the lines.
 */
import { appendFileSync } from "node:fs";
import { servicesOn } from "../../../test/helpers/services.ts";
import { postgresStore } from "../../../test/helpers/postgres-store.ts";

const [url = "", now = "", file = "", ...secrets] = process.argv.slice(2);
const clock = () => Number(now);
const onError = (error: unknown) => process.stderr.write(`${String(error)}\n`);
const store = await postgresStore.open(url, { timeoutMs: 60_000, clock, onProblem: onError });
const services = servicesOn(store, { clock, bans: false, onError });

/** A key is given up after so many refusals in a row: others may still give blocks back. */
const refusalsMax = 3;
await Promise.all(
  secrets.map(async (secret) => {
    for (let refusals = 0; refusals < refusalsMax;) {
      const { key, refusal } = await services.access.admit(secret, () => undefined);
      if (refusal === undefined) {
        refusals = 0;
        // Written before anything else happens, so that a kill loses none of it.
        appendFileSync(file, `${key?.id}\n`);
      } else refusals += 1;
    }
  }),
);
await services.close();
process.exit(0);
