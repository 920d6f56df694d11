import type { Feature } from "../../feature.ts";
import { oneOf, text } from "../../config.ts";

const publicSetting = oneOf(
  "public",
  "show the animals for adoption at /animals, without a key",
  ["on", "off"],
  "off",
);
const title = text("public-title", "TEXT", "title of the public page");
const contact = text("public-contact", "TEXT", "how to reach the shelter, on the public page");

const id = { type: "integer", format: "int64" };
const listSchema = {
  type: "object",
  required: ["updatedAt", "animals"],
  properties: {
    updatedAt: { type: "string", format: "date-time" },
    animals: {
      type: "array",
      items: {
        type: "object",
        required: ["id", "name", "status", "category"],
        properties: {
          id,
          name: { type: "string" },
          status: { enum: ["available", "pending"] },
          category: {
            type: "object",
            required: ["id", "name"],
            properties: { id, name: { type: ["string", "null"] } },
          },
        },
      },
    },
    next: { type: "string", format: "uri-reference" },
  },
};

/** What a program may build on, for the documentation page. */
const topic = `## Public list

This service shows its animals for adoption to everybody. These addresses need no key and have no limits:

| Address | What it is |
| --- | --- |
| \`/animals\` | a page, in English or Spanish |
| \`/animals.json\` | the animals that are available or pending, newest first |
| \`/animals.atom\` | the newest 50 as a feed |
| \`/animals.js\` | a script that puts the list into another page |

\`/animals.json\` has this JSON Schema. After 5,000 animals, \`next\` is the address of the next page, relative to this one. Clients may keep a copy for a minute.

\`\`\`json
${JSON.stringify(listSchema, null, 2)}
\`\`\`
`;

/** The animals for adoption for everybody: a page, JSON, a feed, and a script for other pages. */
export const publicFeature: Feature = {
  name: "public",
  settings: [publicSetting, title, contact],
  routes(valueOf) {
    if (valueOf(publicSetting) === "off") return undefined;
    return {
      pages: [{ title: "Public", path: "/animals" }],
      topic,
      async load() {
        const { publicRoutes } = await import("./routes.ts");
        return ({ services: { store, clock } }) => [
          publicRoutes({
            db: store.db,
            title: valueOf(title),
            contact: valueOf(contact),
            nowMs: clock,
            newId: () => crypto.randomUUID(),
          }),
        ];
      },
    };
  },
};
