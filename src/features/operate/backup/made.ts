/** The list that a store has of its backups: one fact for each that it made and verified. */
export const madeMeta = "made ";
