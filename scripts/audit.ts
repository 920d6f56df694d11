/**
 * `bun scripts/audit.ts`: fails where a package has a known vulnerability that is not listed here
 * with a reason and a date. A registry that has no audit address, or does not answer, is said aloud
 * and passes: it says nothing about the packages.
 */
import { join } from "node:path";

interface Advisory {
  readonly id: number;
  readonly url: string;
  readonly title: string;
  readonly severity: string;
}

/** Findings that do not reach what rehome does, by the end of the advisory's address. */
const accepted: Readonly<Record<string, { why: string; until: string }>> = {};

/** The JSON of `bun audit`, or undefined where the registry gave none. */
async function audit(): Promise<Record<string, Advisory[]> | undefined> {
  const child = Bun.spawn([process.execPath, "audit", "--json"], {
    cwd: join(import.meta.dir, ".."),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [text, said] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  await child.exited;
  try {
    return JSON.parse(text) as Record<string, Advisory[]>;
  } catch {
    process.stdout.write(
      `NOT RUN: the registry gave no audit: ${said.trim().split("\n").at(-1)}\n`,
    );
    return undefined;
  }
}

const today = new Date().toISOString().slice(0, 10);
const found = Object.entries((await audit()) ?? {}).flatMap(([name, advisories]) =>
  advisories.map((advisory) => ({ name, ...advisory })),
);
const open = found.filter(({ url }) => {
  const known = accepted[url.split("/").at(-1) ?? ""];
  return known === undefined || known.until < today;
});
for (const { name, severity, title, url } of open) {
  process.stdout.write(`${name}: ${severity}: ${title} (${url})\n`);
}
if (open.length > 0) {
  process.stdout.write(
    "Update the package, or list the advisory in scripts/audit.ts with why and until when.\n",
  );
}
process.exitCode = open.length === 0 ? 0 : 1;
