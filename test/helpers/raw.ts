/** Speaks to a server byte by byte, for what an HTTP client would not send. */
interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  readonly text: string;
  /** True when the other side ended the connection. */
  readonly isClosed: boolean;
}

/** Whether a first response is there, whole. */
function isWhole(text: string, isHead: boolean): boolean {
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
): Promise<RawAnswer> {
  const { hostname, port, protocol } = new URL(origin);
  let text = "";
  let isClosed = false;
  const { promise, resolve } = Promise.withResolvers<void>();
  const isHead = Buffer.from(bytes.slice(0, 5)).toString() === "HEAD ";
  let quiet = setTimeout(resolve, silentMs);
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    ...(protocol === "https:" && { tls: { rejectUnauthorized: false } }),
    socket: {
      ...(protocol === "https:" && { handshake: (made) => void made.write(bytes) }),
      data(_socket, chunk) {
        text += chunk.toString("latin1");
        clearTimeout(quiet);
        quiet = setTimeout(resolve, isWhole(text, isHead) ? quietMs : silentMs);
      },
      close: () => {
        isClosed = true;
        resolve();
      },
      error: () => resolve(),
    },
  });
  if (protocol !== "https:") socket.write(bytes);
  await promise;
  clearTimeout(quiet);
  const wasClosed = isClosed;
  socket.end();
  const [head = "", ...body] = text.split("\r\n\r\n");
  const [line = "", ...lines] = head.split("\r\n");
  return {
    status: Number(line.split(" ")[1] ?? 0),
    headers: new Map(
      lines.map((header) => {
        const at = header.indexOf(":");
        return [header.slice(0, at).toLowerCase(), header.slice(at + 1).trim()];
      }),
    ),
    body: body.join("\r\n\r\n"),
    isClosed: wasClosed,
    text,
  };
}
