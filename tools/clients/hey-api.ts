/**
 * hey-api with its transformers: what it makes of an int64 as it comes, and with the settings that
 * keep it.
 */
import { client } from "../generated/hey-api/client.gen.ts";
import { createPet, getPet } from "../generated/hey-api/sdk.gen.ts";
import { exactly, writeBigIntExactly } from "./exact-json.ts";

client.setConfig({
  baseUrl: process.env["API_URL"] ?? "",
  auth: () => process.env["API_KEY"] ?? "",
});
const petId = BigInt(process.env["BIG_ID"] ?? "");
const categoryId = 9007199254740993n;

const rounded = await getPet({ path: { petId } });
const asString = await createPet({ body: { name: "Sent", categoryId } });

writeBigIntExactly();
const read = await getPet({ path: { petId }, parseAs: "text", responseTransformer: undefined });
const pet = JSON.parse(String(read.data), exactly) as { categoryId: bigint };
const sent = await createPet({ body: { name: "Sent", categoryId } });

process.stdout.write(
  JSON.stringify({
    rounded: String(rounded.data?.categoryId),
    refused: asString.response?.status,
    read: String(pet.categoryId),
    sent: sent.response?.status,
    sentId: String(sent.data?.id),
  }),
);
