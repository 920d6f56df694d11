/** Loaded before a run of suites: all files of it share its memory, and some take much. */
import { afterAll } from "bun:test";

afterAll(() => Bun.gc(true));
