import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

const script = join(import.meta.dir, "../debian/musl-libraries.sh");
/** Kept from one run to the next, because it takes half a minute to make. */
const cache = "/var/cache/rehome-test";
export const librariesMaxMs = 600_000;

/** A folder with what a musl executable loads, laid out as on Alpine. Made once. */
export async function muslLibraries(): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256").update(readFileSync(script)).digest("hex");
  const kept = join(cache, `musl-${hash.slice(0, 16)}`);
  if (existsSync(kept)) return kept;
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(`${kept}-`);
  try {
    const child = Bun.spawn(["sh", script, made], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    const said = await child.stderr.text();
    if ((await child.exited) !== 0) throw new Error(`no libraries:\n${said}`);
    // Whoever else made them at the same time has made the same.
    if (!existsSync(kept)) renameSync(made, kept);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  return kept;
}
