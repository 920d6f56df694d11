import { version as packageVersion } from "../package.json" with { type: "json" };

/** The program's version. package.json is its only source. */
export const version: string = packageVersion;
declare const BUILD_SUFFIX: string | undefined;
/** The version with what tells builds apart: the commit, or `-dev` for a tree with changes. */
export const fullVersion = version + (typeof BUILD_SUFFIX === "undefined" ? "-dev" : BUILD_SUFFIX);
