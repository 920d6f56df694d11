import { curl } from "./curl.ts";
import { go } from "./go.ts";
import { javascript } from "./javascript.ts";
import { isObject } from "./literal.ts";
import { php } from "./php.ts";
import { python, pythonRequests } from "./python.ts";
import type { SampleRequest } from "./request.ts";

/** The languages, as they are offered. The key is read from the variable API_KEY by all of them. */
export const languages = [
  { id: "curl", title: "curl", write: curl },
  { id: "javascript", title: "JavaScript", write: javascript },
  { id: "requests", title: "Python requests", write: pythonRequests },
  { id: "python", title: "Python", write: python },
  { id: "go", title: "Go", write: go },
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
