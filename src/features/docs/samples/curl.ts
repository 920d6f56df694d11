import { isRepeatable, type SampleRequest } from "./request.ts";

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The request for a shell, with the body as typed. curl itself heeds `Retry-After`. */
export function curl(request: SampleRequest): string {
  const { url, headers, body } = request;
  // curl would also retry a create after a failure that may have stored the animal.
  const retries = isRepeatable(request) ? ["--retry 5"] : [];
  const lines = [`curl -i ${quoted(url)}`, ...retries, '-H "Authorization: Bearer $API_KEY"'];
  for (const [name, value] of headers) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body !== undefined) {
    // `-d @name` would send the file of that name.
    const option = body.startsWith("@") ? "--data-raw" : "-d";
    // `--json` would do the same as both, and curl before 7.82 does not know it.
    lines.push("-H 'Content-Type: application/json'", `${option} ${quoted(body)}`);
  }
  return lines.join(" \\\n  ");
}
