/** The prose of the document. Its numbers come from the constants in force. */
import { keyPrefixes } from "../../../domain/api-key.ts";
import { versionSegment } from "../../../http/context.ts";
import { getPetRemovedOn } from "../../../http/routes/operations.ts";
import { planNames, publishedLimits, type PlanName } from "../../../domain/plan.ts";
import { planTitles } from "../../plan-titles.ts";
import { bodyLimitBytes } from "../../../http/body.ts";
import { statusOf } from "../../../http/errors.ts";
import type { ErrorKind } from "../../../domain/errors.ts";

/** The version of the interface under /v1, as the specification gives it. */
export const interfaceVersion = "1.0.0";

const number = new Intl.NumberFormat("en");

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function planRow(plan: PlanName): string[] {
  if (plan === "enterprise") return [planTitles[plan], "custom", "custom"];
  const { perMinute, perDay } = publishedLimits[plan];
  return [planTitles[plan], number.format(perMinute), number.format(perDay)];
}

const meaningOf = {
  invalid_request: "The query or the body is not valid; the message names the field.",
  unauthorized: "The API key is missing or invalid.",
  forbidden: "The API key is read-only, and the request would add an animal.",
  not_found: "There is no such animal, or nothing at this address.",
  method_not_allowed:
    "The address does not support this method; `Allow` lists those that it supports.",
  payload_too_large: `The body is larger than ${bodyLimitBytes / 1024} KiB.`,
  unsupported_media_type: "The body is not sent as `application/json`, or it is compressed.",
  rate_limited: "A window's requests are used up.",
  key_banned: "The key is banned for some time, because it kept sending after 429.",
  internal_error: "A failure of the service.",
  unavailable: "The service is busy, or its store did not respond in time; try again.",
} satisfies Record<ErrorKind, string>;

const introduction = `Animals that are up for adoption: list them, add one, fetch one.

## Authentication

Every operation needs an API key, sent as a header:

\`\`\`
Authorization: Bearer <API_KEY>
\`\`\`

The operator of the service issues keys. A key begins with \`${keyPrefixes.production}\`, or with \`${keyPrefixes.staging}\` on a staging installation. Neither accepts the keys of the other.`;

const limits = `## Rate limits

${table(["Plan", "Requests per minute", "Requests per day"], planNames.map(planRow))}

Minutes and days are UTC. Every request counts in both, except one that gets 429, and one that gets 503 because it could not be counted. Every response has three headers:

${table(
  ["Header", "Meaning"],
  [
    ["`X-RateLimit-Limit`", "The request limit that applies to the caller."],
    ["`X-RateLimit-Remaining`", "Requests left in the current window."],
    ["`X-RateLimit-Reset`", "When the limit resets: a Unix timestamp in seconds."],
  ],
)}

They show the window with the fewest requests left. Above the limit you get 429 with \`Retry-After\`: wait that many seconds, and back off exponentially if it happens again. A key that keeps sending is banned for some time. A higher plan has higher limits.`;

const pages = `## Pagination

\`GET /pets\` returns a plain array of at most \`limit\` animals, by ascending id. While there are more, the response has a link to the next page (RFC 8288):

\`\`\`
Link: <https://pets.example.org/v1/pets?limit=20&after=20>; rel="next"
\`\`\`

Follow it until a response has none. Its query parameter \`after\` is the one addition to the interface: without it, animals past the hundredth could not be reached.

Other query parameters are ignored. There is no \`page\`: pass the id of the last animal as \`after\`. There is no filter by \`categoryId\` and no \`sort\`: read all pages, then filter and sort.`;

const errors = `## Errors

Every error has the same body, with the fields \`code\`, \`message\` and \`status\`:

${table(
  ["Status", "Code", "Meaning"],
  (Object.keys(statusOf) as ErrorKind[]).map((kind) => [
    String(statusOf[kind]),
    `\`${kind}\``,
    meaningOf[kind],
  ]),
)}`;

const numbers = `## Numbers

\`id\`, \`categoryId\` and \`after\` are exact over all 64 bits, as JSON numbers. A language that reads every JSON number as a double, such as JavaScript, rounds those beyond ±9007199254740991 unless you change its parser.`;

const versioning = `## Versioning

The version is part of the base address, which ends with \`${versionSegment}\`. The interface has version ${interfaceVersion}.`;

const deprecation = `\`GET /pets/{petId}\` is deprecated and is removed on ${getPetRemovedOn}; \`GET /pets\` with a \`status\` filter replaces it. Until then its responses with 200 and 404 have the headers \`Deprecation\` (RFC 9745), \`Sunset\` (RFC 8594) and \`Link\`.`;

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
