import { dataFolderOf } from "../../config.ts";
import type { Feature } from "../../feature.ts";
import { inMemory } from "../../storage/sqlite/files.ts";

export const keysFeature: Feature = {
  name: "keys",
  commands: [{ path: "keys", load: async () => (await import("./commands.ts")).keysCommand }],
  async hooks({ loaded }) {
    const folder = dataFolderOf(loaded.config);
    if (folder === undefined || folder === inMemory) return undefined;
    const { reserveRoom } = await import("./spare-room.ts");
    return {
      onStart() {
        reserveRoom(folder);
        return undefined;
      },
    };
  },
};
