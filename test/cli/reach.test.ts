import { expect, test } from "bun:test";
import { localHost } from "../../src/cli/reach.ts";

test.each([
  ["0.0.0.0", "127.0.0.1"],
  ["::", "[::1]"],
  ["2001:db8::2", "[2001:db8::2]"],
  ["localhost", "localhost"],
])("this machine reaches %s at %s", (host, local) => expect(localHost(host)).toBe(local));
