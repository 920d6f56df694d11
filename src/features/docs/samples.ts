/** The code that the page shows for a request, on the server and in the browser. */
export interface SampleRequest {
  readonly method: string;
  /** Percent-encoded, so that no language needs more than quotes around it. */
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string | undefined;
  /** True if the response is a list of animals, which the code reads to its end. */
  readonly hasList: boolean;
}

/** The languages, as they are offered. The key is read from the variable API_KEY by all of them. */
export const languages = [
  { id: "curl", title: "curl", write: curl },
  { id: "javascript", title: "JavaScript", write: javascript },
  { id: "python", title: "Python", write: python },
  { id: "php", title: "PHP", write: php },
] as const;

export type LanguageId = (typeof languages)[number]["id"];

/** A program in `language` that sends the request, and again when `Retry-After` is over. */
export function sampleOf(language: LanguageId, request: SampleRequest): string {
  const { body } = request;
  if (language !== "curl" && body !== undefined && !isObject(body)) {
    return "The body is not a JSON object. Only curl can send it as it is.";
  }
  const { write } = languages.find(({ id }) => id === language) ?? languages[0];
  return write(request);
}

function isObject(json: string): boolean {
  try {
    const value = exact(json);
    return isNested(value) && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** True for an object or a list; a number of `exact` is a frozen object. */
const isNested = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Object.isFrozen(value);

/** JSON whose numbers keep their digits. A browser from before 2025 rounds those beyond 2^53. */
const exact = (json: string): unknown =>
  JSON.parse(json, (_key, value, of?: { readonly source?: string }) =>
    typeof value === "number" && of?.source !== undefined ? JSON.rawJSON(of.source) : value,
  );

/** The statuses after which code sends the request again. After 503 a create may have been done. */
export function retried({ method, headers }: SampleRequest): readonly number[] {
  const isOnce = headers.some(([name]) => /^idempotency-key$/i.test(name));
  return method === "GET" || isOnce ? [429, 503] : [429];
}

interface Notation {
  readonly object: readonly [open: string, close: string];
  readonly colon: string;
  readonly words: Readonly<Record<string, string>>;
  readonly text: (value: string) => string;
}

const jsonNotation = { object: ["{", "}"], colon: ": ", words: {}, text: JSON.stringify } as const;

function literal(value: unknown, notation: Notation): string {
  const { object, colon, words, text } = notation;
  if (typeof value === "string") return text(value);
  if (!isNested(value)) return words[JSON.stringify(value)] ?? JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((each) => literal(each, notation)).join(", ")}]`;
  const fields = Object.entries(value).map(
    ([name, each]) => `${text(name)}${colon}${literal(each, notation)}`,
  );
  return `${object[0]}${fields.join(", ")}${object[1]}`;
}

/** JSON laid out for a reader: with indentation, and an element of a list on a line. */
export function laidOut(json: string): string {
  const value = exact(json);
  if (!Array.isArray(value) || value.length === 0) return JSON.stringify(value, null, 2);
  return `[\n${value.map((each) => `  ${literal(each, jsonNotation)}`).join(",\n")}\n]`;
}

function split(url: string): { readonly address: string; readonly query: [string, string][] } {
  const [address = "", query = ""] = url.split("?");
  return { address, query: [...new URLSearchParams(query)] };
}

const shellWord = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The request for a shell, with the body as typed. curl itself heeds `Retry-After`. */
function curl(request: SampleRequest): string {
  const { url, headers, body } = request;
  // curl would also retry a create after a failure that may have stored the animal.
  const retries = retried(request).includes(503) ? ["--retry 5"] : [];
  const lines = [`curl -i ${shellWord(url)}`, ...retries, '-H "Authorization: Bearer $API_KEY"'];
  for (const [name, value] of headers) lines.push(`-H ${shellWord(`${name}: ${value}`)}`);
  if (body !== undefined) {
    // `-d @name` would send the file of that name.
    const option = body.startsWith("@") ? "--data-raw" : "-d";
    // `--json` would do the same as both, and curl before 7.82 does not know it.
    lines.push("-H 'Content-Type: application/json'", `${option} ${shellWord(body)}`);
  }
  return lines.join(" \\\n  ");
}

/** A body with numbers that JavaScript would round is sent as the text that it is. */
function javascriptBody(body: string): string {
  if (/\d{16}/.test(body)) return JSON.stringify(body);
  return `JSON.stringify(${literal(exact(body), { ...jsonNotation, object: ["{ ", " }"] })})`;
}

function javascript(request: SampleRequest): string {
  const { method, url, headers, body, hasList } = request;
  const options = [
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    "  headers: {",
    "    Authorization: `Bearer ${process.env.API_KEY}`,",
    ...(body === undefined ? [] : ['    "Content-Type": "application/json",']),
    ...headers.map(([name, value]) => `    "${name}": ${JSON.stringify(value)},`),
    "  },",
    ...(body === undefined ? [] : [`  body: ${javascriptBody(body)},`]),
  ];
  const all = `const url = new URL("${url}");
const pets = [];
for (let page; page?.length !== 0; ) {
  const response = await send(url);
  page = await response.json();
  pets.push(...page);
  if (page.length > 0) url.searchParams.set("after", page.at(-1).id);
}
console.log(pets);`;
  const one = `const response = await send("${url}");
console.log(await response.json());`;
  return `// Node 22, Deno or Bun
const options = {
${options.join("\n")}
};

async function send(url) {
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(url, options);
    if (response.ok) return response;
    if (attempt === 4 || ![${retried(request).join(", ")}].includes(response.status)) {
      throw new Error(await response.text());
    }
    const seconds = Math.max(Number(response.headers.get("Retry-After")), 2 ** attempt);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

${hasList ? all : one}

// response.json() rounds integers beyond 2^53. This keeps every digit:
// JSON.parse(await response.text(), (key, value, { source }) =>
//   typeof value === "number" ? BigInt(source) : value);`;
}

/** With the package `requests`. Python's integers have any size. */
function python(request: SampleRequest): string {
  const { method, headers, body, hasList } = request;
  const { address, query } = split(request.url);
  const fields = [`"Authorization": f"Bearer {os.environ['API_KEY']}"`];
  for (const [name, value] of headers) fields.push(`"${name}": ${JSON.stringify(value)}`);
  const words = { true: "True", false: "False", null: "None" };
  const json = body && `, json=${literal(exact(body), { ...jsonNotation, words })}`;
  const params = query.map(([name, value]) => `"${name}": "${value}"`).join(", ");
  const all = `pets = []
params = {${params}}
while page := send("${address}", params=params):
    pets += page
    params["after"] = page[-1]["id"]
print(pets)`;
  const one = `print(send("${request.url}"${json ?? ""}))`;
  return `import os
import time

import requests  # pip install requests

headers = {
    ${fields.join(",\n    ")},
}


def send(url, **more):
    for attempt in range(5):
        response = requests.${method.toLowerCase()}(url, headers=headers, timeout=30, **more)
        if response.status_code not in (${retried(request).join(", ")},):
            break
        time.sleep(max(int(response.headers["Retry-After"]), 2**attempt))
    if not response.ok:
        raise SystemExit(response.text)
    return response.json()


${hasList ? all : one}`;
}

const singleQuoted = (text: string): string => `'${text.replace(/[\\']/g, "\\$&")}'`;

/** With PHP's curl extension. Its integers have 64 bits. */
function php(request: SampleRequest): string {
  const { method, url, headers, body, hasList } = request;
  const fields = [
    "'Authorization: Bearer ' . getenv('API_KEY'),",
    ...(body === undefined ? [] : ["'Content-Type: application/json',"]),
    ...headers.map(([name, value]) => `${singleQuoted(`${name}: ${value}`)},`),
  ];
  const notation = { object: ["[", "]"], colon: " => ", words: {}, text: singleQuoted } as const;
  const data = body && literal(exact(body), notation);
  const options = [
    ...(method === "GET" ? [] : [`CURLOPT_CUSTOMREQUEST => '${method}',`]),
    "CURLOPT_HTTPHEADER => [",
    ...fields.map((field) => `    ${field}`),
    "],",
    ...(data === undefined
      ? []
      : [`CURLOPT_POSTFIELDS => json_encode(${data}, JSON_THROW_ON_ERROR),`]),
    "CURLOPT_RETURNTRANSFER => true,",
    "CURLOPT_TIMEOUT => 30,",
  ];
  return `<?php
// PHP 8.2 with its curl extension
function send(string $url): array
{
    $request = curl_init($url);
    curl_setopt_array($request, [
${options.map((option) => `        ${option}`).join("\n")}
    ]);
    for ($attempt = 0; $attempt < 5; $attempt++) {
        $text = curl_exec($request);
        $status = curl_getinfo($request, CURLINFO_RESPONSE_CODE);
        if (!in_array($status, [${retried(request).join(", ")}])) {
            break;
        }
        sleep(max(curl_getinfo($request, CURLINFO_RETRY_AFTER), 2 ** $attempt));
    }
    if ($status < 200 || $status > 299) {
        exit("$status $text" . curl_error($request));
    }
    return json_decode($text, true, 512, JSON_THROW_ON_ERROR);
}

${hasList ? phpList(url) : `var_dump(send(${singleQuoted(url)}));`}`;
}

function phpList(url: string): string {
  const { address, query } = split(url);
  const params = query.map(([name, value]) => `'${name}' => '${value}'`).join(", ");
  return `$pets = [];
$query = [${params}];
while ($page = send('${address}?' . http_build_query($query))) {
    array_push($pets, ...$page);
    $query['after'] = end($page)['id'];
}
var_dump($pets);`;
}
