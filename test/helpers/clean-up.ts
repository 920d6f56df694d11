/** Loaded before a run with `TEST_STORE=postgres`: cleans up after each test, and all. */
import { afterAll, afterEach, beforeEach } from "bun:test";
import { hookTimeoutMs } from "./postgres.ts";
import { beginTest, dropDatabases, endTest } from "./store-under-test.ts";

beforeEach(beginTest);
afterEach(endTest, hookTimeoutMs);
afterAll(dropDatabases, hookTimeoutMs);
