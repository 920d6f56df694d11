import { petStatuses, type Pet } from "../../domain/pet.ts";
import { json, type Static } from "../json.ts";

export const petSchema = json.object({
  id: json.int64("id of the animal, an int64"),
  name: json.text("name"),
  categoryId: json.int64("id of its category, an int64"),
  status: json.optional(json.oneOf(petStatuses, "status; absent when it has none")),
});
export const petListSchema = json.list(petSchema);

/** The fields of an animal that `--json` shows: those of the interface. */
export function petFields({ id, name, categoryId, status }: Pet): Static<typeof petSchema> {
  return status === undefined ? { id, name, categoryId } : { id, name, categoryId, status };
}
