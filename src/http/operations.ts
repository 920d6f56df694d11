/** What the document says of each operation beyond its schemas. */
export const listPetsDetail = { operationId: "listPets", summary: "List animals", tags: ["pets"] };
export const createPetDetail = {
  operationId: "createPet",
  summary: "Add an animal",
  tags: ["pets"],
};
export const getPetDetail = {
  operationId: "getPet",
  summary: "Get an animal",
  tags: ["pets"],
  deprecated: true,
};
