/** Loaded before a run with `TEST_STORE=postgres`: cleans up behind all of its files. */
import { afterAll } from "bun:test";
import { hookTimeoutMs } from "./postgres.ts";
import { dropDatabases } from "./store-under-test.ts";

afterAll(dropDatabases, hookTimeoutMs);
