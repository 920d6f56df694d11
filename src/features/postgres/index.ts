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
        return openPostgresStore({
          ...options,
          address: parseDatabaseAddress(address),
          clock: undefined,
          systemClock: options.clock,
          waitsForServers: !options.serving,
          onError: (error) => options.onProblem?.(error),
        });
      },
    },
  ],
};
