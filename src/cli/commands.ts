import type { CommandEntry } from "../annex.ts";

/** The kernel's commands, in the order in which help shows them. */
export const kernelCommands: readonly CommandEntry[] = [
  { path: "serve", load: async () => (await import("./serve.ts")).serveCommand },
  { path: "keys", load: async () => (await import("./keys/index.ts")).keysCommand },
  { path: "pets", load: async () => (await import("./pets/index.ts")).petsCommand },
  { path: "config", load: async () => (await import("./config.ts")).configCommand },
  { path: "openapi", load: async () => (await import("./openapi.ts")).openapiCommand },
];
