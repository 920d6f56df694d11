import { expect } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/** `text` as JSON of exactly the documented shape: no field is missing or undocumented. */
export function documentedJson(schema: TSchema, text: string): unknown {
  const value = JSON.parse(text) as unknown;
  expect([...Value.Errors(schema, value)]).toEqual([]);
  expect(Value.Clean(schema, structuredClone(value))).toEqual(value);
  return value;
}
