/**
 * The first import of the program, because libraries read NODE_ENV when they load. A compiled
 * executable is in development mode by default, in which errors show internal details.
 */
process.env["NODE_ENV"] = "production";
