import type { Feature } from "../../feature.ts";

export const postgresFeature: Feature = {
  name: "postgres",
  commands: [
    {
      path: "store",
      load: async () => (await import("./moving/command.ts")).storeCommand,
    },
  ],
  async openAddress(address, options) {
    const [{ openPostgresStore }, { parseDatabaseAddress }] = await Promise.all([
      import("./store.ts"),
      import("./address.ts"),
    ]);
    const { clock: systemClock, serving, onProblem, ...others } = options;
    return openPostgresStore({
      ...others,
      address: parseDatabaseAddress(address),
      systemClock,
      waitsForServers: !serving,
      onError: (error) => onProblem?.(error),
    });
  },
};
