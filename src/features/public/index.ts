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

/** The animals for adoption for everybody: a page, JSON, a feed, and a script for other pages. */
export const publicFeature: Feature = {
  name: "public",
  settings: [publicSetting, title, contact],
  routes(valueOf) {
    if (valueOf(publicSetting) === "off") return undefined;
    return {
      pages: [{ title: "Public", path: "/animals" }],
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
