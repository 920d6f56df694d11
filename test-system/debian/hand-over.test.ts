/**
 * Clients that open a connection for each request: the system holds connections that the old
 * process has not met yet, and drops them with its listener, unless it is told to give them to the
 * new one.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";

const script = join(import.meta.dir, "../../test/fixtures/hand-over/run.ts");

interface Found {
  readonly statuses: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
}

const sum = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((total, count) => total + count, 0);

test.each([
  // Bun closes what it accepted in the very moment of a stop: one in ten hand-overs.
  [10, "with", 1, () => 1],
  [2, "without", 0, (total: number) => total / 1_000],
])(
  "%d hand-overs %s tcp_migrate_req lose hardly a new connection",
  async (rounds, _, setting, lostMax) => {
    const setUp = `ip link set lo up && echo ${setting} > /proc/sys/net/ipv4/tcp_migrate_req`;
    const words = [
      "sh",
      "-c",
      `${setUp} && exec "$@"`,
      "sh",
      process.execPath,
      script,
      `${rounds}`,
    ];
    const child = Bun.spawn(["unshare", "--net", ...words], {
      stdout: "pipe",
      stderr: "inherit",
    });
    const { statuses, failures } = JSON.parse(await child.stdout.text()) as Found;
    expect(Object.keys(statuses)).toEqual(["200"]);
    expect(sum(statuses)).toBeGreaterThanOrEqual(10_000);
    expect([failures, sum(failures) <= lostMax(sum(statuses))]).toEqual([failures, true]);
  },
);
