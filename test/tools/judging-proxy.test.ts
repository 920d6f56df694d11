/**
 * What stands between the black-box tests and their servers changes nothing, and lets no wrong
 * answer pass.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { proxyTo } from "../helpers/behind-proxy.ts";
import { makeKey, rehome, serve, temporaryFolder } from "../helpers/binary.ts";
import { judgingProxy, type Findings } from "../helpers/judging-proxy.ts";
import { requestText } from "../helpers/load.ts";
import { prismJudge, type Judge } from "../helpers/prism.ts";
import { raw } from "../helpers/raw.ts";

/** Linux has the whole of 127.0.0.0/8 from the start. */
const ownAddress = process.platform === "linux" ? "127.0.0.7" : "127.0.0.1";

let document: string;
let judge: Judge;
beforeAll(async () => {
  document = (await rehome(["openapi"])).stdout;
  judge = await prismJudge(document);
}, 120_000);

/** A server that speaks byte by byte. */
async function wireServer(onSocket: (socket: Socket) => void) {
  const server = createServer({ allowHalfOpen: true }, onSocket).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const limits = {
  "x-ratelimit-limit": "60",
  "x-ratelimit-remaining": "59",
  "x-ratelimit-reset": "1795262460",
  "x-request-id": "a-1",
};
const deprecated = {
  deprecation: "@1795219200",
  sunset: "Thu, 05 Dec 2030 00:00:00 GMT",
  link: '<http://localhost/v1/pets>; rel="successor-version"',
};

interface Wrong {
  readonly request?: string;
  readonly status?: number;
  readonly headers?: Record<string, string | undefined>;
  readonly body?: string;
}

const pet = '{"id":1,"name":"Rex","categoryId":9223372036854775807,"status":"sold"}';
const refusal = '{"code":"not_found","message":"No.","status":404}';

function answerText({ status = 200, headers, body = `[${pet}]` }: Wrong): string {
  const all = { "content-type": "application/json", ...limits, ...headers };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}: ${value}\r\n`,
  );
  return `HTTP/1.1 ${status} X\r\n${lines.join("")}content-length: ${body.length}\r\n\r\n${body}`;
}

/** What is found when a server gives this answer to that request. */
async function found(wrong: Wrong): Promise<Findings> {
  const { server, origin } = await wireServer((socket) => {
    socket.once("data", () => socket.end(answerText(wrong)));
  });
  const proxy = judgingProxy(judge);
  const answer = await raw(
    await proxyTo(origin, proxy.control),
    wrong.request ?? requestText("GET", "/v1/pets", "secret"),
    5_000,
  );
  expect(answer.text).toBe(answerText(wrong));
  server.close();
  return proxy.stop();
}

describe("the judge", () => {
  test.each<[what: string, judged: string, wrong: Wrong]>([
    ["a page", "GET /pets 200", {}],
    [
      "an animal",
      "GET /pets/{petId} 200",
      {
        request: requestText("GET", "/v1/pets/1", "secret"),
        headers: deprecated,
        body: pet,
      },
    ],
    [
      "the ends of int64",
      "GET /pets 200",
      {
        body: '[{"id":9223372036854775807,"name":"","categoryId":-9223372036854775808}]',
      },
    ],
    [
      "an animal that was added",
      "POST /pets 201",
      {
        request: requestText("POST", "/v1/pets", "secret", '{"name":"Rex","categoryId":1e3}'),
        status: 201,
        body: pet,
      },
    ],
  ])("finds nothing wrong with %s", async (_, judged, wrong) => {
    const findings = await found(wrong);
    expect(findings.violations).toEqual(new Map());
    expect(findings.judged).toEqual(new Map([[judged, 1]]));
  });

  test("asks of the answer to a request without a valid Host header that it is 400", async () => {
    const request = "GET /v1/pets/1 HTTP/1.1\r\nHost: a:99999\r\nConnection: close\r\n\r\n";
    const refused = await found({ request, status: 400 });
    expect(refused.violations).toEqual(new Map());
    expect(refused.outside).toEqual(new Map([["no valid Host header", 1]]));
    const served = await found({ request });
    expect([...served.violations.keys()]).toEqual([
      "GET /v1/pets/1 200: without a valid Host header",
    ]);
  });

  test.each<[what: string, words: string, wrong: Wrong]>([
    [
      "a status that is not in the document",
      "Unable to match the returned status code",
      {
        status: 404,
        body: refusal,
      },
    ],
    [
      "a 2xx that is not in the document",
      "Unable to match the returned status code",
      {
        status: 206,
      },
    ],
    [
      "a field of another type",
      "0.id must be integer",
      {
        body: '[{"id":"1","name":"Rex","categoryId":1}]',
      },
    ],
    [
      "a field that is missing",
      "must have required property 'name'",
      {
        body: '[{"id":1,"categoryId":1}]',
      },
    ],
    [
      "a status beyond the enumeration",
      "must be equal to one of the allowed values",
      {
        body: '[{"id":1,"name":"Rex","categoryId":1,"status":"lost"}]',
      },
    ],
    [
      "a number beyond int64",
      "0.categoryId must be integer",
      {
        body: '[{"id":1,"name":"Rex","categoryId":9223372036854775808}]',
      },
    ],
    [
      "more animals than a page has",
      "must NOT have more than 100 items",
      {
        body: `[${Array.from({ length: 101 }, () => pet).join(",")}]`,
      },
    ],
    ["a body that is no JSON", "must be array", { body: "[1," }],
    [
      "another content type",
      "does not match the one",
      {
        headers: { "content-type": "text/html" },
      },
    ],
    [
      "a header that is missing",
      "must have required property 'x-ratelimit-reset'",
      {
        headers: { "x-ratelimit-reset": undefined },
      },
    ],
    [
      "a header of another form",
      "x-ratelimit-limit must be integer",
      {
        headers: { "x-ratelimit-limit": "many" },
      },
    ],
    [
      "an Error with a code that is not in the list",
      "code must be equal to one of",
      {
        request: requestText("GET", "/v1/pets/1", "secret"),
        status: 404,
        headers: deprecated,
        body: refusal.replace("not_found", "nothing"),
      },
    ],
    [
      "an animal given to a caller without a key",
      "Invalid security scheme",
      {
        request: requestText("GET", "/v1/pets", undefined),
      },
    ],
    [
      "a query carried out that the document forbids",
      "limit must be <= 100",
      {
        request: requestText("GET", "/v1/pets?limit=101", "secret"),
      },
    ],
    [
      "an animal taken without a name",
      "must have required property 'name'",
      {
        request: requestText("POST", "/v1/pets", "secret", '{"categoryId":1}'),
        status: 201,
        body: pet,
      },
    ],
    [
      "an operation that is not in the document",
      "not in the document",
      {
        request: requestText("DELETE", "/v1/pets", "secret"),
      },
    ],
  ])("finds %s", async (_, words, wrong) => {
    const { violations } = await found(wrong);
    expect([...violations.keys()].join("\n")).toContain(words);
  });

  test("finds the executable at odds with another document", async () => {
    using folder = temporaryFolder();
    await using server = await serve(folder.path);
    const { key } = await makeKey(folder.path);
    const other = JSON.parse(document) as {
      components: { schemas: { Error: { required: string[] } } };
    };
    other.components.schemas.Error.required.push("hint");
    for (const [text, violations] of [
      [document, 0],
      [JSON.stringify(other), 1],
    ] as const) {
      const proxy = judgingProxy(await prismJudge(text));
      const origin = await proxyTo(server.origin, proxy.control);
      const headers = { authorization: `Bearer ${key}` };
      expect((await fetch(`${origin}/v1/pets?limit=0`, { headers })).status).toBe(400);
      const findings = await proxy.stop();
      expect(findings.judged).toEqual(new Map([["GET /pets 400", 1]]));
      expect(findings.violations.size).toBe(violations);
    }
  });
});

describe("the way through", () => {
  let server: Server;
  let origin: string;
  let proxy: ReturnType<typeof judgingProxy>;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    // Says who calls, and then what it hears, until it has heard all.
    ({ server, origin } = await wireServer((socket) => {
      sockets.push(socket);
      socket.on("error", () => undefined);
      socket.write(`${socket.remoteAddress} `);
      socket.on("data", (bytes: Buffer) => {
        if (bytes.includes("RESET")) socket.resetAndDestroy();
        else socket.write(bytes);
      });
      socket.on("end", () => socket.end("\nall"));
    }));
    proxy = judgingProxy(judge);
    origin = await proxyTo(origin, proxy.control);
  });
  afterAll(async () => {
    server.close();
    await proxy.stop();
  });

  function call(localAddress = "127.0.0.1") {
    const port = Number(new URL(origin).port);
    const socket = connect({ host: "127.0.0.1", port, localAddress, allowHalfOpen: true });
    const chunks: Buffer[] = [];
    const { promise, resolve } = Promise.withResolvers<string>();
    socket.on("data", (bytes: Buffer) => chunks.push(bytes));
    socket.on("end", () => resolve(Buffer.concat(chunks).toString("latin1")));
    socket.on("error", (error: Error & { code?: string }) => resolve(error.code ?? ""));
    return { socket, heard: promise };
  }

  test("keeps every byte, half-closed connections and the caller's address", async () => {
    const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => (at * 31) % 251));
    const { socket, heard } = call(ownAddress);
    socket.end(bytes);
    const text = await heard;
    expect(text.slice(0, ownAddress.length + 1)).toBe(`${ownAddress} `);
    expect(text.slice(ownAddress.length + 1) === `${bytes.toString("latin1")}\nall`).toBe(true);
  });

  test("passes a reset on, in both directions", async () => {
    const { socket, heard } = call();
    socket.write("RESET");
    expect(await heard).toBe("ECONNRESET");

    const { socket: other } = call();
    await new Promise((resolve) => other.once("data", resolve));
    const far = sockets.at(-1)!;
    const closed = new Promise<boolean>((resolve) => far.once("close", resolve));
    other.resetAndDestroy();
    expect(await closed).toBe(true);
  });

  test("refuses connections once the server does", async () => {
    const { server: gone, origin: goneOrigin } = await wireServer(() => undefined);
    const proxied = await proxyTo(goneOrigin, proxy.control);
    await new Promise((resolve) => gone.close(resolve));
    const outcome = async () => {
      const socket = connect({ host: "127.0.0.1", port: Number(new URL(proxied).port) });
      const error = await new Promise<Error & { code?: string }>((resolve) => {
        socket.once("error", resolve);
      });
      return error.code;
    };
    expect(await outcome()).toBe("ECONNRESET");
    expect(await outcome()).toBe("ECONNREFUSED");
  });

  test("pairs answers with requests in a pipeline, in chunks, after HEAD and 100 Continue", async () => {
    const chunked = `HTTP/1.1 200 OK\r\n${Object.entries({
      ...limits,
      "content-type": "application/json",
    })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("")}Transfer-Encoding: chunked\r\n\r\n1\r\n[\r\n1;x=y\r\n]\r\n0\r\n\r\n`;
    const answers = [
      answerText({ body: "" }).replace("content-length: 0", "content-length: 5"),
      chunked,
      "HTTP/1.1 100 Continue\r\n\r\n",
      answerText({ status: 201, body: pet }),
      answerText({ body: "[]" }),
      answerText({ status: 400, body: refusal.replace("not_found", "invalid_request") }),
    ].join("");
    const { server: piped, origin: pipedOrigin } = await wireServer((socket) => {
      socket.once("data", () => {
        // In pieces that end within lines, numbers and heads.
        for (let at = 0; at < answers.length; at += 7) socket.write(answers.slice(at, at + 7));
        socket.end();
      });
    });
    const judging = judgingProxy(judge);
    const body = '{"name":"Rex","categoryId":1}';
    const post = requestText("POST", "/v1/pets", "a", body);
    const requests = [
      requestText("HEAD", "/v1/pets", "a"),
      requestText("GET", "/v1/pets", "a"),
      post
        .replace(`Content-Length: ${body.length}`, "Transfer-Encoding: chunked")
        .replace(
          body,
          `5\r\n${body.slice(0, 5)}\r\n${(body.length - 5).toString(16)}\r\n${body.slice(5)}\r\n0\r\n\r\n`,
        ),
      requestText("GET", "/v1/pets?limit=1", "a"),
      "GET /v1/pets HTTP/1.1\r\nHost: a b\r\n\r\n",
    ];
    const answer = await raw(await proxyTo(pipedOrigin, judging.control), requests.join(""), 5_000);
    expect(answer.text).toBe(answers);
    piped.close();
    const findings = await judging.stop();
    expect(findings.violations).toEqual(new Map());
    expect(Object.fromEntries(findings.judged)).toEqual({
      "GET /pets 200": 2,
      "POST /pets 201": 1,
    });
    expect(Object.fromEntries(findings.outside)).toEqual({
      HEAD: 1,
      "no well-formed request": 1,
    });
  });
});
