import { expect, test } from "bun:test";
import {
  eventsOf,
  type FieldValue,
  type StoredEvent,
} from "../../../src/features/animals/history.ts";

const old = { name: "Old", categoryId: 1, status: "available" };
const renamed = { ...old, name: "New", status: null };
const event = (action: string, before?: StoredEvent["before"], after?: StoredEvent["after"]) => ({
  atMs: 0,
  actor: "ana",
  action,
  change: 1n,
  before,
  after,
});
const change = (field: string, before: FieldValue, after: FieldValue) => ({ field, before, after });

test("tells that an animal went or came back, and what is not as it was", () => {
  const events = [
    event("import", old),
    event("import", undefined, renamed),
    event("update", renamed, { ...renamed, status: "sold" }),
    event("remove", { ...renamed, status: "sold" }),
    event("restore", undefined, { ...renamed, status: "sold" }),
    event("undo", { ...renamed, status: "sold" }),
  ];
  const changed = [change("name", "Old", "New"), change("status", "available", null)];
  expect(eventsOf(events)).toEqual([
    { ...event("import", old), did: "withdrawn", changed: [] },
    { ...event("import", undefined, renamed), did: "restored", changed },
    {
      ...event("update", renamed, { ...renamed, status: "sold" }),
      did: undefined,
      changed: [change("status", null, "sold")],
    },
    { ...event("remove", { ...renamed, status: "sold" }), did: "removed", changed: [] },
    {
      ...event("restore", undefined, { ...renamed, status: "sold" }),
      did: "restored",
      changed: [],
    },
    { ...event("undo", { ...renamed, status: "sold" }), did: "removed", changed: [] },
  ]);
});

test("an event from before a field existed, or whose former values are forgotten, shows no change", () => {
  const [first, second] = eventsOf([
    event("restore", undefined, old),
    event("update", { name: "Old", categoryId: 1 }, renamed),
  ]);
  expect(first).toMatchObject({ did: "restored", changed: [] });
  expect(second?.changed).toEqual([change("name", "Old", "New")]);
});
