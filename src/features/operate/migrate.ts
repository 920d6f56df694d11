import { beginOnStore, commandOf } from "../command.ts";
import { messageOf } from "../../cli/errors.ts";
import type { Io } from "../../cli/io.ts";
import { openServices } from "../../cli/open.ts";
import { refuseStray } from "../with-services.ts";
import { addSettings, storeSettings } from "../options.ts";

/** `rehome migrate`: updates the schema of a store, as the next start of the service would. */
export function migrateCommand(io: Io) {
  const command = commandOf({
    name: "migrate",
    about: "update the schema of the store, and keep a copy of the old databases",
    remark: `A start of the service does the same. No other command changes the schema. Stop the
servers of the older program first: they refuse a newer store.`,
    examples: ["rehome migrate", "rehome migrate --data /var/lib/rehome"],
  });
  return addSettings(command, storeSettings).action(async () => {
    const { config } = beginOnStore(command, io);
    refuseStray(config, {});
    const onError = (error: unknown) => io.err(`Warning: ${messageOf(error)}\n`);
    const services = await openServices(config, io, { serving: false, migrates: true, onError });
    io.out(`The schema of ${services.place} is up to date.\n`);
    await services.close();
  });
}
