/** Speaks to a server byte by byte, for what an HTTP client would not send. */
interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  readonly text: string;
  /** True when the other side ended the connection. */
  readonly isClosed: boolean;
}

/**
 * Sends `bytes` on a new connection and resolves with what came back until the other side closed or
 * went quiet, or said nothing at all for `silentMs`.
 */
export async function raw(
  origin: string,
  bytes: string | Uint8Array,
  quietMs = 300,
  silentMs = 30_000,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(origin);
  let text = "";
  let isClosed = false;
  const { promise, resolve } = Promise.withResolvers<void>();
  let quiet = setTimeout(resolve, silentMs);
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_socket, chunk) {
        text += chunk.toString("latin1");
        clearTimeout(quiet);
        quiet = setTimeout(resolve, quietMs);
      },
      close: () => {
        isClosed = true;
        resolve();
      },
      error: () => resolve(),
    },
  });
  socket.write(bytes);
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
