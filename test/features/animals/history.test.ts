import { expect, test } from "bun:test";
import { eventsOf } from "../../../src/features/animals/history.ts";

type State = Readonly<Record<string, unknown>> | undefined;
const shown = (...events: readonly (readonly [action: string, before: State, after: State])[]) => {
  const stored = events.map(([action, before, after]) => {
    return { atMs: 0, actor: "ana", change: 1n, action, before, after };
  });
  return eventsOf(stored).map(({ did, changed }) => [
    did,
    ...changed.map(({ field, before, after }) => `${field}: ${before} > ${after}`),
  ]);
};
const old = { name: "Old", categoryId: 1, status: "available" };
const renamed = { ...old, name: "New", status: null };

test("tells that an animal went or came back, and what is not as it was", () => {
  expect(
    shown(
      ["import", old, undefined],
      ["import", undefined, renamed],
      ["update", renamed, { ...renamed, status: "sold" }],
      ["remove", { ...renamed, status: "sold" }, undefined],
      ["restore", undefined, { ...renamed, status: "sold" }],
    ),
  ).toEqual([
    ["withdrawn"],
    ["restored", "name: Old > New", "status: available > null"],
    [undefined, "status: null > sold"],
    ["removed"],
    ["restored"],
  ]);
});

test("an event from before a field existed, or whose former values are forgotten, shows no change", () => {
  const before = { name: "Old", categoryId: 1 };
  expect(shown(["restore", undefined, old], ["update", before, renamed])).toEqual([
    ["restored"],
    [undefined, "name: Old > New"],
  ]);
});
