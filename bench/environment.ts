// What a run was made on: a figure without it means nothing.
import { readFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import { peerVersions } from "./peer-store.ts";
import { run } from "./process.ts";
import { root } from "./rehome.ts";
import type { Environment } from "./report.ts";

async function said(command: readonly string[], cwd?: string): Promise<string> {
  return (await run(command, cwd).catch(() => "unknown")).trim();
}

/** Describes the machine, the versions and the commit; `folder` is where the stores lie. */
export async function environment(folder: string, how: string): Promise<Environment> {
  const [fileSystem, wrk, node, commit, changes, device, peers] = await Promise.all([
    said(["stat", "-f", "-c", "%T", folder]),
    said(["dpkg-query", "-W", "-f", "${Version}", "wrk"]),
    said(["node", "--version"]),
    said(["git", "rev-parse", "--short", "HEAD"], root),
    said(["git", "status", "--porcelain", "--untracked-files=no"], root),
    said(["df", "--output=source", folder]),
    peerVersions(),
  ]);
  const packages = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as {
    dependencies: Record<string, string>;
  };
  const { elysia = "?", "drizzle-orm": drizzle = "?" } = packages.dependencies;
  const gib = totalmem() / 2 ** 30;
  return {
    machine: [
      `${cpus()[0]?.model.trim() ?? "unknown processor"}, ${cpus().length} cores`,
      `${gib.toFixed(0)} GiB of memory`,
      `Linux ${release()}`,
      `stores on ${fileSystem} (${device.split("\n").at(-1) ?? ""})`,
      "server on core 0, wrk with one thread on core 1",
    ],
    versions: {
      bun: Bun.version,
      node: node.slice(1),
      wrk,
      elysia,
      "drizzle-orm": drizzle,
      ...peers,
    },
    commit: changes === "" ? commit : `${commit} with uncommitted changes`,
    date: new Date().toISOString().slice(0, 16).replace("T", " ") + " UTC",
    how,
    loadBefore: loadavg()[0] ?? 0,
  };
}

/** Why this machine cannot run the bench, or undefined. */
export function unfit(): string | undefined {
  if (process.platform !== "linux") return "the bench reads /proc and pins cores: it needs Linux";
  if (cpus().length < 2) return "it needs two cores: one for the server, one for the load";
  const missing = ["wrk", "taskset"].filter((tool) => Bun.which(tool) === null);
  if (missing.length > 0)
    return `${missing.join(" and ")} not found; on Debian: apt install wrk util-linux`;
  return undefined;
}
