/** orval with `useBigInt` and a reviver of one's own: an int64 is exact in both directions. */
import { createPet, getPet } from "../generated/orval-exact.ts";
import { writeBigIntExactly } from "./exact-json.ts";

const init = { headers: { authorization: `Bearer ${process.env["API_KEY"]}` } };
writeBigIntExactly();
const read = await getPet(BigInt(process.env["BIG_ID"] ?? ""), init);
const sent = await createPet({ name: "Sent", categoryId: 9007199254740993n }, init);

process.stdout.write(
  JSON.stringify({
    read: read.status === 200 ? String(read.data.categoryId) : undefined,
    sent: sent.status,
    sentId: sent.status === 201 ? String(sent.data.id) : undefined,
  }),
);
