import { version as packageVersion } from "../package.json" with { type: "json" };

/** The program's version. package.json is its only source. */
export const version: string = packageVersion;
/** The version of the interface under /v1, as the specification gives it. */
export const interfaceVersion = "1.0.0";
