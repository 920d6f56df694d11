/** The prose of the document. Its numbers come from where they bind. */
import { keyPrefixes } from "../../domain/api-key.ts";
import { getPetRemovedOn, versionSegment } from "../edge.ts";
import { planNames, publishedLimits, type PlanName } from "../../domain/plan.ts";
import { interfaceVersion } from "../../version.ts";
import { bodyLimitBytes } from "../body.ts";
import { statusOf } from "../errors.ts";
import type { ErrorKind } from "../../domain/errors.ts";

const number = new Intl.NumberFormat("en");
const titleOf = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function planRow(plan: PlanName): string[] {
  if (plan === "enterprise") return [titleOf(plan), "custom", "custom"];
  const { perMinute, perDay } = publishedLimits[plan];
  return [titleOf(plan), number.format(perMinute), number.format(perDay)];
}

const meaningOf = {
  invalid_request: "The query or the body is not valid; the message names the field.",
  unauthorized: "The API key is missing or invalid.",
  forbidden: "The API key is read-only, and the request would add an animal.",
  not_found: "There is no such animal, or nothing at this address.",
  method_not_allowed: "The address does not take this method; `Allow` names those that it takes.",
  payload_too_large: `The body is larger than ${bodyLimitBytes / 1024} KiB.`,
  unsupported_media_type: "The body is not sent as `application/json`, or it is compressed.",
  rate_limited: "A window's requests are used up.",
  key_banned: "The key is banned for a while, because it went on after 429.",
  internal_error: "A failure of the service.",
  unavailable: "The store did not answer in time; try again.",
} satisfies Record<ErrorKind, string>;

const introduction = `Animals that are up for adoption: list them, add one, fetch one.

## Authentication

Every operation needs an API key, sent as a header:

\`\`\`
Authorization: Bearer <API_KEY>
\`\`\`

The operator of the service issues keys. A key begins with \`${keyPrefixes.production}\`, on a staging installation with \`${keyPrefixes.staging}\`, and neither accepts the other's.`;

const limits = `## Rate limits

${table(["Plan", "Requests per minute", "Requests per day"], planNames.map(planRow))}

Minutes and days are those of UTC. A request counts in both, whatever its answer; one that is refused with 429 counts in neither. Every answer carries three headers:

${table(
  ["Header", "Meaning"],
  [
    ["`X-RateLimit-Limit`", "The request limit that applies to the caller."],
    ["`X-RateLimit-Remaining`", "Requests left in the current window."],
    ["`X-RateLimit-Reset`", "When the limit resets: a Unix timestamp in seconds."],
  ],
)}

They show the window with the fewest requests left. Above the limit the answer is 429 with \`Retry-After\`: wait that many seconds, and back off exponentially when it happens again. A key that goes on instead is banned for a while. A higher plan has higher limits.`;

const pages = `## Pagination

\`GET /pets\` returns a plain array of at most \`limit\` animals, by ascending id. While more of them match, the answer carries a link to the next page (RFC 8288):

\`\`\`
Link: <https://pets.example.org/v1/pets?limit=20&after=20>; rel="next"
\`\`\`

Follow it until an answer has none. Its query parameter \`after\` is the one addition to the interface: without it, animals past the hundredth could not be reached.`;

const errors = `## Errors

Every refusal has the same body, with the fields \`code\`, \`message\` and \`status\`:

${table(
  ["Status", "Code", "Meaning"],
  (Object.keys(statusOf) as ErrorKind[]).map((kind) => [
    String(statusOf[kind]),
    `\`${kind}\``,
    meaningOf[kind],
  ]),
)}`;

const numbers = `## Numbers

\`id\`, \`categoryId\` and \`after\` are exact over all 64 bits, as JSON numbers. A language that reads every JSON number as a double, such as JavaScript, rounds those beyond ±9007199254740991 unless its parser is told otherwise.`;

const versioning = `## Versioning

The version is part of the base address, which ends with \`${versionSegment}\`. The interface has version ${interfaceVersion}.`;

const deprecation = `\`GET /pets/{petId}\` is deprecated and is removed on ${getPetRemovedOn}; \`GET /pets\` with a \`status\` filter replaces it. Until then its answers say so in the headers \`Deprecation\` (RFC 9745), \`Sunset\` (RFC 8594) and \`Link\`.`;

/** What a reader of the document needs beside the operations, as CommonMark with tables. */
export function description(hasDeprecated: boolean): string {
  const parts = [
    introduction,
    limits,
    pages,
    errors,
    numbers,
    versioning,
    ...(hasDeprecated ? [deprecation] : []),
  ];
  return `${parts.join("\n\n")}\n`;
}
