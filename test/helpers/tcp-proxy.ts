/** A network between a store and its database that a test can cut, or break connections on. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export async function tcpProxy(firstPort: number) {
  let targetPort = firstPort;
  let isCut = false;
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((near) => {
    const far = connect(targetPort, "127.0.0.1");
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [far, near] as const]) {
      from.setNoDelay(true);
      from.on("data", (bytes: Buffer) => {
        if (!isCut) to.write(bytes);
      });
      from.on("error", () => {});
      from.on("close", () => {
        // A cable that was pulled tells nobody of a connection's end either.
        if (!isCut) to.destroy();
        if (near.destroyed && far.destroyed) pairs.delete(pair);
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const reset = () => {
    for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    /** From now on nothing goes through, and nothing is closed: a cable that was pulled. */
    cut() {
      isCut = true;
    },
    /** Lets new bytes through again; what was sent meanwhile is lost with its connection. */
    mend() {
      isCut = false;
      reset();
    },
    /** Resets every connection, and leads new ones to another port. */
    lead(port: number) {
      targetPort = port;
      reset();
    },
    /** Resets every connection. */
    reset,
    async close() {
      reset();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
