/** Who may use the console. */
import { personRoles } from "../../storage/schema-values.ts";
import { bytes, count, keyOf, nullable, oneOf, table, text } from "../../storage/declare.ts";

/** The people who use the console. */
export const people = table({
  name: "people",
  title: "people",
  columns: {
    id: text(),
    name: text(),
    role: oneOf(personRoles),
    createdAtMs: count(),
    /** Who invited the person. */
    createdBy: text(),
    removedAtMs: nullable(count()),
  },
});

export const invitations = table({
  name: "invitations",
  title: "invitations",
  key: ["hash"],
  columns: {
    /** SHA-256 of what the link holds. */
    hash: bytes(),
    personId: keyOf(people, text()),
    createdAtMs: count(),
    expiresAtMs: count(),
    usedAtMs: nullable(count()),
  },
  indexes: [{ name: "invitations_by_person", on: ["personId"] }],
});

export const sessions = table({
  name: "sessions",
  title: "sessions",
  key: ["hash"],
  columns: {
    /** SHA-256 of what the cookie holds. */
    hash: bytes(),
    personId: keyOf(people, text()),
    createdAtMs: count(),
    expiresAtMs: count(),
    seenAtMs: count(),
  },
  indexes: [{ name: "sessions_by_person", on: ["personId"] }],
});
