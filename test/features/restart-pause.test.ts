import { expect, test } from "bun:test";
import { restartPause } from "../../src/features/operate/restart-pause.ts";

test("what dies again and again waits longer each time, up to the longest pause", () => {
  const pause = restartPause(1, 10);
  expect([0, 500, 59_999, 0, 0, 0].map((ranMs) => pause(ranMs))).toEqual([1, 2, 4, 8, 10, 10]);
});

test("what served for a minute starts with a clean record", () => {
  const pause = restartPause(1, 10);
  expect([0, 0, 60_000, 0].map((ranMs) => pause(ranMs))).toEqual([1, 2, 1, 2]);
});
