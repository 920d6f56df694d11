import type { Feature } from "../../feature.ts";
import { oneOf, text } from "../../config.ts";

export const publicSetting = oneOf(
  "public",
  "show the animals for adoption at /animals, without a key",
  ["on", "off"],
  "off",
);
const title = text("public-title", "TEXT", "title of the public page");
const titleEs = text("public-title-es", "TEXT", "the same in Spanish");
const contact = text("public-contact", "TEXT", "how to reach the shelter, on the public page");
const contactEs = text("public-contact-es", "TEXT", "the same in Spanish");

const topic = `## Public list

This service shows its animals for adoption to everybody. These addresses need no key and have no limits:

| Address | What it is |
| --- | --- |
| \`/animals\` | a page, in English or Spanish |
| \`/animals.json\` | the animals that are available or pending, newest first |
| \`/animals.atom\` | the newest 50 as a feed |
| \`/animals.js\` | a script that puts the list into another page |

\`/animals.json\` has the newest 5,000 animals, and \`"hasMore": true\` if there are more; \`GET /pets\` has them all. The name of a category is \`null\` if it has none. Clients may keep a copy for a minute.

\`\`\`json
{
  "updatedAt": "2026-11-21T12:00:10Z",
  "animals": [
    { "id": 1, "name": "Rex", "status": "available", "category": { "id": 1, "name": "Dog" } }
  ]
}
\`\`\`
`;

export const publicFeature: Feature = {
  name: "public",
  settings: [publicSetting, title, titleEs, contact, contactEs],
  routes(valueOf) {
    if (valueOf(publicSetting) === "off") return undefined;
    return {
      pages: [{ title: "Public", path: "/animals" }],
      topic,
      async load() {
        const { publicRoutes } = await import("./routes.ts");
        const en = { title: valueOf(title), contact: valueOf(contact) };
        const es = {
          title: valueOf(titleEs) ?? en.title,
          contact: valueOf(contactEs) ?? en.contact,
        };
        return (options) => [publicRoutes({ en, es }, crypto.randomUUID(), options)];
      },
    };
  },
};
