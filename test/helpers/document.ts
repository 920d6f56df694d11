/** Walks the document without trusting the program's types for it. */

interface ErrorExample {
  readonly operationId: string;
  readonly status: string;
  readonly name: string;
  readonly value: { readonly code: string; readonly message: string; readonly status: number };
}

interface Response {
  readonly headers: Record<string, { $ref: string }>;
  readonly content: Record<
    string,
    { schema: unknown; examples: Record<string, { value: ErrorExample["value"] }> }
  >;
}

interface Operation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly { readonly name: string }[];
  readonly responses: Record<string, Response>;
}

/** The operations of a document, with references to responses put in. */
export function operationsOf(document: object): Operation[] {
  const { paths, components } = document as {
    paths: Record<string, Record<string, Operation>>;
    components: { responses: Record<string, Response> };
  };
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      ...operation,
      method,
      path,
      responses: Object.fromEntries(
        Object.entries(operation.responses).map(([status, response]) => {
          const name = (response as { $ref?: string }).$ref?.split("/").at(-1);
          return [status, name === undefined ? response : components.responses[name]!];
        }),
      ),
    })),
  );
}

/** Every Error that a document shows as an example. */
export function errorExamples(document: object): ErrorExample[] {
  return operationsOf(document).flatMap(({ operationId, responses }) =>
    Object.entries(responses)
      .filter(([status]) => Number(status) >= 400)
      .flatMap(([status, { content }]) =>
        Object.entries(content["application/json"]?.examples ?? {}).map(([name, { value }]) => ({
          operationId,
          status,
          name,
          value,
        })),
      ),
  );
}
