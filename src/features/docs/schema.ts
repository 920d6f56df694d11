import type { OpenAPIV3 } from "openapi-types";
import type { OpenApiDocument } from "./openapi/document.ts";
import { html, trusted, type Html } from "../../web/html.ts";

export type Schema = OpenAPIV3.SchemaObject;
type Reference = OpenAPIV3.ReferenceObject;

/** What a reference in the document stands for, and the name that it has there. */
export function resolve<T extends object>(
  document: OpenApiDocument,
  value: T | Reference,
): { readonly value: T; readonly name: string | undefined } {
  if (!("$ref" in value)) return { value, name: undefined };
  const steps = value.$ref.split("/").slice(1);
  const found = steps.reduce<unknown>(
    (at, step) => (at as Record<string, unknown>)[step],
    document,
  );
  return { value: found as T, name: steps.at(-1) };
}

/** CommonMark of this program's own prose as markup. */
export function markdown(text: string): Html {
  return trusted(Bun.markdown.html(text));
}

/** One line of CommonMark, without the paragraph around it. */
export function line(text: string): Html {
  return trusted(
    markdown(text)
      .text.trim()
      .replace(/^<p>|<\/p>$/g, ""),
  );
}

/** The type of a schema in a word or two; a name leads to where it is described. */
export function typeOf(document: OpenApiDocument, schema: Schema | Reference): Html {
  const { value, name } = resolve(document, schema);
  if (name !== undefined) return html`<a href="#schema-${name}">${name}</a>`;
  if (value.type === "array") return html`array of ${typeOf(document, value.items)}`;
  return html`${value.type}${value.format === undefined ? "" : ` (${value.format})`}`;
}

/** The bounds of a value, in words. */
export function rulesOf(document: OpenApiDocument, schema: Schema | Reference): Html | undefined {
  const { value } = resolve(document, schema);
  const rules: Html[] = [];
  if (value.enum !== undefined) {
    const values = (value.enum as string[]).map((each) => html` <code>${each}</code>`);
    rules.push(html`One of${values}.`);
  }
  // What `format` says already is not said again.
  if (value.format !== "int64" && value.minimum !== undefined && value.maximum !== undefined) {
    rules.push(html`From ${value.minimum} to ${value.maximum}.`);
  }
  if (value.type === "string" && value.maxLength !== undefined && value.pattern === undefined) {
    rules.push(html`At most ${value.maxLength} characters.`);
  }
  if (value.default !== undefined) {
    rules.push(html`${value.default as number} when omitted.`);
  }
  return rules.length === 0 ? undefined : html`${rules.map((rule) => html` ${rule}`)}`;
}

export interface Field {
  readonly name: string;
  readonly description?: string | undefined;
  readonly required?: boolean;
  readonly schema: Schema | Reference;
  /** The location of a parameter, if the heading does not show it. */
  readonly place?: string | undefined;
  readonly example?: unknown;
}

/** Fields with their types and rules; with `kind`, each has an id: `header-retry-after`. */
export function fieldList(
  document: OpenApiDocument,
  fields: readonly Field[],
  kind?: string,
): Html {
  const rows = fields.map(({ name, description, required = false, schema, place }) => {
    const said = description ?? resolve(document, schema).value.description ?? "";
    const id = kind && trusted(` id="${kind}-${name.toLowerCase()}"`);
    return html`<div${id}>
      <dt>
        <code>${name}</code>
        <span class="type">${typeOf(document, schema)}</span
        >${place === undefined ? undefined : html` <span class="tag">${place}</span>`}${required && html` <span class="tag must">required</span>`}
      </dt>
      <dd>${line(said)}${rulesOf(document, schema)}</dd>
    </div>`;
  });
  return html`<dl class="fields">${rows}</dl>`;
}

export function fieldsOf({ properties = {}, required = [] }: Schema): Field[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    description: "$ref" in schema ? undefined : schema.description,
    required: required.includes(name),
  }));
}
