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

/** What `valueOf` has for each optional text of an animal. */
export function textsOf<T>(valueOf: (name: OptionalTextName) => T) {
  const texts = optionalTextNames.map((name) => [name, valueOf(name)] as const);
  // oxlint-disable-next-line typescript/no-generated-empty-object-type -- no field is one by now
  return Object.fromEntries(texts) as { readonly [N in OptionalTextName]: T };
}
