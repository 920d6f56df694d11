import { expect, test } from "bun:test";
import { removeCommand } from "../../../../src/features/animals/pets/remove.ts";
import { addCommand } from "../../../../src/features/animals/pets/add.ts";
import { updateCommand } from "../../../../src/features/animals/pets/update.ts";
import { temporaryFolder } from "../../../helpers/binary.ts";
import { testIo } from "../../../helpers/io.ts";

test("prints an animal as it was removed, also if it changed during the question", async () => {
  using folder = temporaryFolder();
  const env = { REHOME_DATA: folder.path };
  const other = testIo({ env });
  const user = { from: "user" } as const;
  await addCommand(other).parseAsync(["--name", "Rex", "--category", "1"], user);
  const io = testIo({
    env,
    canAsk: true,
    ask: async () => {
      await updateCommand(other).parseAsync(["1", "--name", "Max"], user);
      return "y";
    },
  });
  await removeCommand(io).parseAsync(["1", "--json"], user);
  expect(JSON.parse(io.printed())).toEqual({ id: 1, name: "Max", categoryId: 1 });
});
