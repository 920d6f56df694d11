/** A quick look at a data folder, for completion: nothing is opened for writing, made or migrated. */
export { peekKeys as glanceAtKeys, peekPets as glanceAtPets } from "../storage/sqlite/peek.ts";
