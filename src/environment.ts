/**
 * The first import of the program: libraries read NODE_ENV when they are loaded, and a compiled
 * executable is in development mode unless it is told otherwise. In that mode errors would show
 * what they were about.
 */
process.env["NODE_ENV"] = "production";
