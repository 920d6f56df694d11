/** orval: a function for each operation, with the answers told apart by their status. */
import { createPet, getPet, listPets } from "../generated/orval.ts";

const added = await createPet({ name: "Rex", categoryId: 7, status: "available" });
if (added.status !== 201) throw new Error(added.data.message);
await createPet({ name: "Mia", categoryId: 8 });
const page = await listPets({ limit: 1, status: "available" });
const got = await getPet(added.data.id);
const missing = await getPet(404);
// @ts-expect-error: categoryId is required
const invalid = await createPet({ name: "Rex" });
// @ts-expect-error: there is no such status
await listPets({ status: "lost" });

process.stdout.write(
  JSON.stringify({
    added: added.data,
    pets: page.status === 200 ? page.data : undefined,
    got: got.status === 200 ? got.data.name : undefined,
    code: missing.status === 404 ? missing.data.code : undefined,
    invalid: invalid.status === 400 ? invalid.data.message : undefined,
    left: added.headers.get("x-ratelimit-remaining"),
  }),
);
