import { literalOf, type Style } from "./literal.ts";
import { retried, type SampleRequest } from "./request.ts";

const style: Style = {
  object: ["{", "}"],
  array: ["[", "]"],
  pair: ": ",
  words: { true: "True", false: "False", null: "None" },
  string: (value) => JSON.stringify(value),
  key: (name) => JSON.stringify(name),
  number: (digits) => digits,
};

const authorization = `"Authorization": f"Bearer {os.environ['API_KEY']}"`;
const headersOf = (fields: readonly string[]) =>
  fields.length === 1 ? `{${fields.join("")}}` : `{\n    ${fields.join(",\n    ")},\n}`;
const isOther = (request: SampleRequest, name: string) =>
  retried(request)
    .map((status) => `${name} != ${status}`)
    .join(" and ");
const own = (headers: SampleRequest["headers"]) =>
  headers.map(([name, value]) => `"${name}": ${JSON.stringify(value)}`);

/** The request with the package `requests`. Python's integers have any size. */
export function pythonRequests(request: SampleRequest): string {
  const { method, url, headers, body } = request;
  const json = body === undefined ? "" : `\n        json=${literalOf(body, style)},\n       `;
  const [open, close] = body === undefined ? ["", ""] : ["\n        ", ",\n    "];
  return `import os
import time

import requests  # pip install requests

url = "${url}"
headers = ${headersOf([authorization, ...own(headers)])}

for attempt in range(5):
    answer = requests.${method.toLowerCase()}(${open}url, headers=headers,${json} timeout=30${close})
    if ${isOther(request, "answer.status_code")}:
        break
    time.sleep(max(int(answer.headers["Retry-After"]), 2**attempt))

print(answer.status_code, answer.json())`;
}

/** The request with the standard library alone. */
export function python(request: SampleRequest): string {
  const { url, headers, body } = request;
  const fields = [authorization, ...own(headers)];
  if (body !== undefined) fields.push('"Content-Type": "application/json"');
  const made = body === undefined ? "" : `\nbody = json.dumps(${literalOf(body, style)}).encode()`;
  const data = body === undefined ? "" : ", data=body";
  return `import json
import os
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

url = "${url}"
headers = ${headersOf(fields)}${made}

for attempt in range(5):
    try:
        answer = urlopen(Request(url, headers=headers${data}), timeout=30)
    except HTTPError as refusal:
        answer = refusal
    if ${isOther(request, "answer.status")}:
        break
    time.sleep(max(int(answer.headers["Retry-After"]), 2**attempt))

print(answer.status, json.load(answer))`;
}
