/** The version of the interface under /v1, as the specification gives it. */
export const interfaceVersion = "1.0.0";
