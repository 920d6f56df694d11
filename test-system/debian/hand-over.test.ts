/**
 * Clients that open a connection for each request: the system holds connections that the old
 * process has not met yet, and drops them with its listener, unless it is told to give them to the
 * new one.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";

const script = join(import.meta.dir, "../../test/fixtures/hand-over/run.ts");
const canIsolate = Bun.which("ip") !== null && Bun.spawnSync(["unshare", "--net", "true"]).success;
if (!canIsolate) {
  process.stderr.write("NOT RUN: the hand-over needs the right to make a network namespace\n");
}

interface Found {
  readonly statuses: readonly number[];
  readonly failures: Readonly<Record<string, number>>;
}

test.skipIf(!canIsolate)(
  "with tcp_migrate_req the connections that wait are not lost in a hand-over",
  async () => {
    const setUp = "ip link set lo up && echo 1 > /proc/sys/net/ipv4/tcp_migrate_req";
    const command = `${setUp} && exec "$0" "$1"`;
    const child = Bun.spawn(["unshare", "--net", "sh", "-c", command, process.execPath, script], {
      stdout: "pipe",
      stderr: "inherit",
    });
    const found = JSON.parse(await child.stdout.text()) as Found;
    expect(found.statuses).toEqual([200]);
    // One may have been accepted in the very moment of a stop, its request not there yet: Bun
    // closes it. Without the setting it is one or more in each of the eight changes.
    const lost = Object.values(found.failures).reduce((sum, count) => sum + count, 0);
    expect([found.failures, lost <= 2]).toEqual([found.failures, true]);
  },
  120_000,
);
