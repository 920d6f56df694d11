import { literalOf, type Style } from "./literal.ts";
import { retried, type SampleRequest } from "./request.ts";

const style: Style = {
  object: ["{ ", " }"],
  array: ["[", "]"],
  pair: ": ",
  words: {},
  string: (value) => JSON.stringify(value),
  key: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)),
  number: (digits) =>
    /^-?\d+$/.test(digits) && !Number.isSafeInteger(Number(digits))
      ? `JSON.rawJSON("${digits}")`
      : digits,
};

/** The request with `fetch`. Integers become BigInt: a number rounds those beyond 2^53. */
export function javascript(request: SampleRequest): string {
  const { method, url, headers, body } = request;
  const options = [
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    "  headers: {",
    "    Authorization: `Bearer ${process.env.API_KEY}`,",
    ...(body === undefined ? [] : ['    "Content-Type": "application/json",']),
    ...headers.map(([name, value]) => `    "${name}": ${JSON.stringify(value)},`),
    "  },",
    ...(body === undefined ? [] : [`  body: JSON.stringify(${literalOf(body, style)}),`]),
  ];
  const isOther = retried(request)
    .map((status) => `answer.status !== ${status}`)
    .join(" && ");
  return `// Node 22, Deno or Bun
const url = "${url}";
const options = {
${options.join("\n")}
};

let answer;
for (let attempt = 0; attempt < 5; attempt++) {
  answer = await fetch(url, options);
  if (${isOther}) break;
  const seconds = Math.max(Number(answer.headers.get("Retry-After")), 2 ** attempt);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

// Integers of 64 bits are read as BigInt: a number would round them.
const integers = (key, value, { source }) =>
  typeof value === "number" ? BigInt(source) : value;
console.log(answer.status, JSON.parse(await answer.text(), integers));`;
}
