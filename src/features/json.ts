/**
 * What `--json` prints, as schemas: the types of the functions that make it, the tests of the
 * executable and docs/cli.md all come from them. Fields are a contract: they are added to, never
 * changed.
 */
import { Type, type Static, type TSchema } from "@sinclair/typebox";
import { Option, type Command } from "commander";
import type { Io } from "../cli/io.ts";
import { printableLines } from "../cli/terminal/text.ts";
import { jsonText } from "../domain/exact-json.ts";

const schemas = new WeakMap<Command, TSchema>();

export function addJson(command: Command, schema: TSchema): Command {
  schemas.set(command, schema);
  return command.addOption(
    new Option("--json", "print one JSON document, whose fields are stable"),
  );
}

export function jsonSchemaOf(command: Command): TSchema | undefined {
  return schemas.get(command);
}

export const json = {
  text: (description: string) => Type.String({ description }),
  count: (description: string) => Type.Integer({ description }),
  /** An int64, exact: beyond 2^53 many programs need to be told to read it exactly. */
  int64: (description: string) => Type.Unsafe<bigint>(Type.Integer({ description })),
  optional: Type.Optional,
  flag: (description: string) => Type.Boolean({ description }),
  /** A point in time to the second, in UTC. */
  time: (description: string) =>
    Type.String({ description, pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$" }),
  day: (description: string) => Type.String({ description, pattern: "^\\d{4}-\\d\\d-\\d\\d$" }),
  oneOf: <T extends string>(values: readonly T[], description: string) =>
    Type.Unsafe<T>(
      Type.Union(
        values.map((value) => Type.Literal(value)),
        { description },
      ),
    ),
  orNull: <T extends TSchema>(schema: T) =>
    Type.Union([schema, Type.Null()], { description: schema.description ?? "" }),
  either: <A extends TSchema, B extends TSchema>(one: A, other: B, description: string) =>
    Type.Union([one, other], { description }),
  settingValue: (description: string) =>
    Type.Union(
      [Type.String(), Type.Number(), Type.Boolean(), Type.Array(Type.String()), Type.Null()],
      { description },
    ),
  object: Type.Object,
  list: Type.Array,
} as const;

export type { Static };

/** An output field: what docs and tests say of it, and how it is made. */
export interface Field<S extends TSchema, Of extends readonly unknown[]> {
  readonly schema: S;
  make(...of: Of): Static<S>;
}

/** Declares fields that are made of `Of`. */
export const fieldOf =
  <Of extends readonly unknown[]>() =>
  <S extends TSchema>(schema: S, make: (...of: Of) => Static<S>): Field<S, Of> => ({
    schema,
    make,
  });

/** The schemas of declared fields, for `object`, and the function that makes them all. */
export function declared<
  Of extends readonly unknown[],
  F extends Readonly<Record<string, Field<TSchema, Of>>>,
>(fields: F) {
  const each = <T>(of: (field: Field<TSchema, Of>) => T) =>
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, of(field)]));
  return {
    schemas: each(({ schema }) => schema) as { [Name in keyof F]: F[Name]["schema"] },
    make: (...of: Of) =>
      each((field) => field.make(...of)) as { [Name in keyof F]: Static<F[Name]["schema"]> },
  };
}

/** One JSON document on standard output: the contract of `--json`. An int64 is written exactly. */
export function printJson(io: Io, value: unknown): void {
  io.out(jsonDocument(value));
}

/** What `printJson` prints of `value`. A terminal obeys none of it; the values are the same. */
export const jsonDocument = (value: unknown) => `${printableLines(jsonText(value, 2))}\n`;

/** Writes all of `texts`, or as much as the reader wants: `head` and `less` end early. */
export async function writeAll(
  io: Io,
  texts: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  try {
    for await (const text of texts) await io.write(text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
  }
}
