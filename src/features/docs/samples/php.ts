import { literalOf, singleQuoted, type Style } from "./literal.ts";
import { retried, type SampleRequest } from "./request.ts";

const style: Style = {
  object: ["[", "]"],
  array: ["[", "]"],
  pair: " => ",
  words: {},
  string: singleQuoted,
  key: singleQuoted,
  number: (digits) => digits,
};

/** The request with PHP's curl. Its integers have 64 bits. */
export function php(request: SampleRequest): string {
  const { method, url, headers, body } = request;
  const fields = [
    "'Authorization: Bearer ' . getenv('API_KEY'),",
    ...(body === undefined ? [] : ["'Content-Type: application/json',"]),
    ...headers.map(([name, value]) => `${singleQuoted(`${name}: ${value}`)},`),
  ];
  const options = [
    ...(method === "GET" ? [] : [`CURLOPT_CUSTOMREQUEST => '${method}',`]),
    "CURLOPT_HTTPHEADER => [",
    ...fields.map((field) => `    ${field}`),
    "],",
    ...(body === undefined
      ? []
      : [`CURLOPT_POSTFIELDS => json_encode(${literalOf(body, style)}, JSON_THROW_ON_ERROR),`]),
    "CURLOPT_RETURNTRANSFER => true,",
    "CURLOPT_TIMEOUT => 30,",
  ];
  const isOther = retried(request)
    .map((status) => `$status !== ${status}`)
    .join(" && ");
  return `<?php
// PHP 8.2 with its curl extension
$request = curl_init(${singleQuoted(url)});
curl_setopt_array($request, [
${options.map((option) => `    ${option}`).join("\n")}
]);

for ($attempt = 0; $attempt < 5; $attempt++) {
    $answer = curl_exec($request);
    $status = curl_getinfo($request, CURLINFO_RESPONSE_CODE);
    if (${isOther}) {
        break;
    }
    sleep(max(curl_getinfo($request, CURLINFO_RETRY_AFTER), 2 ** $attempt));
}
if ($answer === false) {
    exit(curl_error($request));
}
echo $status, ' ';
var_dump(json_decode($answer, true, 512, JSON_THROW_ON_ERROR));`;
}
