import { retried, type SampleRequest } from "./request.ts";

/** A literal of Go: raw where the text allows it, because JSON is full of quotes. */
const textOf = (value: string) =>
  /[`\r\uFEFF]/.test(value) ? JSON.stringify(value) : `\`${value}\``;

/** The request with the standard library. Its types have int64: an `any` would be a double. */
export function go(request: SampleRequest): string {
  return [imports(request), type, send(request), main(request)].join("\n\n");
}

const imports = ({ body }: SampleRequest) => `package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"${body === undefined ? "" : '\n\t"strings"'}
	"time"
)`;

const type = `type Pet struct {
	ID         int64  \`json:"id"\`
	Name       string \`json:"name"\`
	CategoryID int64  \`json:"categoryId"\`
	Status     string \`json:"status,omitempty"\`
}`;

function send(request: SampleRequest): string {
  const { method, url, headers, body } = request;
  const reader = body === undefined ? "nil" : "strings.NewReader(body)";
  const sent = [
    'request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))',
    ...(body === undefined ? [] : ['request.Header.Set("Content-Type", "application/json")']),
    ...headers.map(([field, value]) => `request.Header.Set("${field}", ${JSON.stringify(value)})`),
  ];
  const isRetried = retried(request)
    .map((status) => `response.StatusCode == ${status}`)
    .join(" || ");
  return `func send(attempt int) (*http.Response, error) {
	const url = "${url}"${body === undefined ? "" : `\n\tconst body = ${textOf(body)}`}
	request, err := http.NewRequest("${method}", url, ${reader})
	if err != nil {
		return nil, err
	}
	${sent.join("\n\t")}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	isRetried := ${isRetried}
	if !isRetried || attempt == 4 {
		return response, nil
	}
	response.Body.Close()
	wait := 1 << attempt
	if told, _ := strconv.Atoi(response.Header.Get("Retry-After")); told > wait {
		wait = told
	}
	time.Sleep(time.Duration(wait) * time.Second)
	return send(attempt + 1)
}`;
}

function main({ method, hasList }: SampleRequest): string {
  const [name, type] = hasList ? ["pets", "[]Pet"] : ["pet", "Pet"];
  const success = method === "POST" ? "http.StatusCreated" : "http.StatusOK";
  return `func main() {
	response, err := send(0)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	if response.StatusCode != ${success} {
		log.Fatalf("%s: %s", response.Status, answer)
	}
	var ${name} ${type}
	if err := json.Unmarshal(answer, &${name}); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s %+v\\n", response.Status, ${name})
}`;
}
