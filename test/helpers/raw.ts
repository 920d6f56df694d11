/** Speaks to a server byte by byte, for what an HTTP client would not send. */
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";

/** Whether a first response is there, whole. */
export function isWhole(text: string, isHead = false): boolean {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const head = text.slice(0, end);
  if (/^transfer-encoding: *chunked/im.test(head)) return text.endsWith("0\r\n\r\n");
  const length = isHead ? 0 : Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  return text.length - end - 4 >= length;
}

/**
 * Sends `bytes` on a new connection and resolves with what came back until the other side closed or
 * went quiet after a response, or said nothing for `silentMs`.
 */
export async function raw(
  origin: string,
  bytes: string | Uint8Array,
  quietMs = 300,
  silentMs = 30_000,
) {
  const { hostname: host, port, protocol } = new URL(origin);
  const options = { host, port: Number(port), rejectUnauthorized: false };
  const socket = protocol === "https:" ? connectTls(options) : connect(options);
  const { promise, resolve } = Promise.withResolvers<void>();
  const isHead = Buffer.from(bytes.slice(0, 5)).toString() === "HEAD ";
  let text = "";
  let isClosed = false;
  let quiet = setTimeout(resolve, silentMs);
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    clearTimeout(quiet);
    quiet = setTimeout(resolve, isWhole(text, isHead) ? quietMs : silentMs);
  });
  socket.on("close", () => {
    isClosed = true;
    resolve();
  });
  socket.on("error", () => resolve());
  socket.write(bytes);
  await promise;
  clearTimeout(quiet);
  const wasClosed = isClosed;
  socket.destroy();
  const [head = "", ...body] = text.split("\r\n\r\n");
  const [line = "", ...lines] = head.split("\r\n");
  const pairs = lines.map((each) => /^([^:]*): *(.*)$/.exec(each) ?? []);
  return {
    status: Number(line.split(" ")[1] ?? 0),
    headers: new Map(pairs.map(([, name = "", value = ""]) => [name.toLowerCase(), value])),
    body: body.join("\r\n\r\n"),
    /** True when the other side ended the connection. */
    isClosed: wasClosed,
    text,
  };
}
