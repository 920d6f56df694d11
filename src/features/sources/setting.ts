import { oneOf } from "../../config.ts";

export const pullPrivateSetting = oneOf(
  "pull-private",
  "let followed lists be on private addresses, by http too",
  ["on", "off"],
  "off",
);
