import type { Feature } from "../../feature.ts";

export const postgresFeature: Feature = {
  name: "postgres",
  commands: [
    {
      path: "store",
      load: async () => (await import("./moving/command.ts")).storeCommand,
    },
  ],
  stores: [
    {
      schemes: ["postgres", "postgresql"],
      async open(address, options) {
        const [{ openPostgresStore }, { parseDatabaseAddress }] = await Promise.all([
          import("./store.ts"),
          import("./address.ts"),
        ]);
        const { timeoutMs, clock: systemClock, serving, mayMigrate, copyOf } = options;
        const { onProblem, onCommit } = options;
        return openPostgresStore({
          address: parseDatabaseAddress(address),
          timeoutMs,
          systemClock,
          mayMigrate,
          copyOf,
          waitsForServers: !serving,
          onError: (error) => onProblem?.(error),
          onCommit,
        });
      },
    },
  ],
};
