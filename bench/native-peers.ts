// The peers that are compiled, with what Debian packages and nothing from a network.
import { join } from "node:path";
import { DidNotRun, run } from "./process.ts";
import { root } from "./rehome.ts";

export type NativeRuntime = "go" | "rust";

const target = join(root, "dist", "bench", "peers");

interface Recipe {
  readonly tool: string;
  /** What to install where it does not compile. */
  readonly packages: readonly string[];
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly program: string;
}

const recipes: Readonly<Record<NativeRuntime, Recipe>> = {
  go: {
    tool: "go",
    packages: ["golang-go", "golang-github-mattn-go-sqlite3-dev"],
    command: ["go", "build", "-tags", "libsqlite3", "-o", join(target, "go-peer"), "."],
    env: { GO111MODULE: "off", GOPATH: "/usr/share/gocode", GOFLAGS: "-buildvcs=false" },
    program: join(target, "go-peer"),
  },
  rust: {
    tool: "cargo",
    packages: [
      "cargo",
      "librust-hyper-dev",
      "librust-tokio-dev",
      "librust-rusqlite-dev",
      "librust-serde-derive-dev",
      "librust-serde-json-dev",
      "librust-sha2-dev",
    ],
    command: ["cargo", "build", "--release", "--offline"],
    env: { CARGO_TARGET_DIR: join(target, "rust") },
    program: join(target, "rust", "release", "rust-peer"),
  },
};

const programs = new Map<NativeRuntime, Promise<string>>();

/** The program of a peer, compiled once a run. Throws DidNotRun without its packages. */
export function compiled(runtime: NativeRuntime): Promise<string> {
  const known = programs.get(runtime) ?? compile(runtime);
  programs.set(runtime, known);
  return known;
}

async function compile(runtime: NativeRuntime): Promise<string> {
  const { tool, packages, command, env, program } = recipes[runtime];
  const install = `apt install ${packages.join(" ")}`;
  if (Bun.which(tool) === null) throw new DidNotRun(`${tool} not found; on Debian: ${install}`);
  try {
    await run(
      ["env", ...Object.entries(env).map((each) => each.join("=")), ...command],
      join(import.meta.dir, "peers", runtime),
    );
  } catch (error) {
    throw new DidNotRun(`it did not compile; on Debian: ${install} (${(error as Error).message})`);
  }
  return program;
}

/** The versions of the packages that the compiled peers are made of, where they are installed. */
export async function debianVersions(): Promise<Readonly<Record<string, string>>> {
  const names = Object.values(recipes).flatMap(({ packages }) => packages);
  const format = "${Package} ${source:Upstream-Version}\\n";
  const listed = await run(["dpkg-query", "-W", "-f", format, ...names]).catch(() => "");
  const versions = [...listed.matchAll(/^(\S+) (\S+)$/gm)].map(([, name, version]) => [
    name,
    version,
  ]);
  return Object.fromEntries(versions) as Record<string, string>;
}
