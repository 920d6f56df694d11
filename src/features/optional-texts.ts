import { type OptionalName, type PetField, petFieldNames, petFields } from "../domain/pet.ts";

/** The optional fields of an animal that hold any text. */
export type OptionalTextName = {
  [N in OptionalName]: (typeof petFields)[N] extends { kind: "text"; values?: undefined }
    ? N
    : never;
}[OptionalName];
export const optionalTextNames = petFieldNames.filter((name): name is OptionalTextName => {
  const { kind, values, isOptional }: PetField = petFields[name];
  return kind === "text" && values === undefined && isOptional === true;
});
