/** The table of the API, over sockets. */
import { makeKey, perDay, serve, temporaryFolder } from "../../test/helpers/binary.ts";
import { testApi } from "../../test/http/api-cases.ts";

testApi(async () => {
  const folder = temporaryFolder();
  const server = await serve(folder.path);
  const writer = await makeKey(folder.path, ...perDay(1_000));
  const reader = await makeKey(folder.path, ...perDay(1_000), "--read-only");
  const spent = await makeKey(folder.path, ...perDay(1));
  return {
    send: (path, init) => fetch(`${server.origin}${path}`, init),
    secrets: { writer: writer.key, reader: reader.key, spent: spent.key },
    async close() {
      await server.stop();
      folder[Symbol.dispose]();
    },
  };
});
