/**
 * An S3 server that stores for real (s3rver), behind a check of every signature by other people's
 * code (aws4): s3rver alone takes any.
 */
import { mkdtempSync, rmSync, truncateSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installTools, toolsFolder } from "./tools.ts";

interface Aws4 {
  readonly RequestSigner: new (
    request: object,
    credentials: object,
  ) => { prepareRequest(): void; signature(): string };
}

type S3rver = new (options: object) => {
  readonly middleware: unknown[];
  readonly context: { logger: object };
  configureBuckets(): Promise<void>;
  callback(): RequestListener;
};

/** A status; no answer, or its beginning, and then nothing; or half of a file is kept. */
type S3Fault = number | "hang up" | "hang" | "stall" | "cut";

const bucketName = "backups";
const accessKeyId = "S3RVER";
const secretAccessKey = "secret-of-the-bucket";

export async function startS3() {
  await installTools();
  const load = createRequire(join(toolsFolder, "package.json"));
  const aws4 = load("aws4") as Aws4;
  const Server = load("s3rver") as S3rver;
  const directory = mkdtempSync(join(tmpdir(), "rehome-s3-"));
  const server = new Server({ directory, silent: true, configureBuckets: [{ name: bucketName }] });
  // Its log needs Node.
  server.middleware.shift();
  server.context.logger = new Proxy({}, { get: () => () => undefined });
  await server.configureBuckets();
  const store = server.callback();
  const at = {
    /** What happens instead of an answer of the store: see `S3Fault`. */
    fault: undefined as ((request: IncomingMessage) => S3Fault | undefined) | undefined,
    refused: 0,
    hanging: 0,
  };
  const listener = createServer((request, response) => {
    const fault = at.fault?.(request);
    if (fault === "hang up") return void request.socket.destroy();
    if (fault === "stall") response.write("a");
    if (fault === "hang" || fault === "stall") return void (at.hanging += 1);
    const { authorization = "" } = request.headers;
    const path = decodeURIComponent((request.url ?? "").split("?")[0] ?? "");
    if (fault === "cut") {
      response.on("finish", () => truncateSync(`${join(directory, path)}._S3rver_object`, 512));
    }
    const isSigned = authorization.endsWith(`Signature=${signatureOf(request, aws4)}`);
    if ((fault === undefined || fault === "cut") && isSigned) return store(request, response);
    if (!isSigned) at.refused += 1;
    const code = isSigned ? "AccessDenied" : "SignatureDoesNotMatch";
    response.writeHead(typeof fault === "number" ? fault : 403, {
      "content-type": "application/xml",
      connection: "close",
    });
    return void response.end(`<Error><Code>${code}</Code><Message>No.</Message></Error>`);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as AddressInfo;
  const env = {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
  };
  return {
    at,
    env,
    address: `s3://${bucketName}/north`,
    /** The folder in which the store has its objects. */
    directory,
    async [Symbol.asyncDispose]() {
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The signature that the request must have. */
function signatureOf(request: IncomingMessage, aws4: Aws4): string {
  const [, region = "", names = ""] =
    /Credential=[^/]+\/\d+\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+)/.exec(
      request.headers.authorization ?? "",
    ) ?? [];
  const signed = names.split(";").map((name) => [name, request.headers[name] ?? ""]);
  const { method, url: path } = request;
  const headers = Object.fromEntries(signed) as object;
  const known = { accessKeyId, secretAccessKey };
  const signer = new aws4.RequestSigner({ service: "s3", region, method, path, headers }, known);
  // Takes the time of the request; else it would be the time of this check.
  signer.prepareRequest();
  return signer.signature();
}
