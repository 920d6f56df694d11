import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addressIn, refuseStray } from "../../src/cli/open.ts";
import { loadConfig } from "../../src/config.ts";
import { temporaryFolder } from "../helpers/binary.ts";
import { testIo } from "../helpers/io.ts";

interface Place {
  readonly own?: "catalogue" | "empty";
  readonly service: boolean;
  /** What the service's settings say. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly flags?: Readonly<Record<string, string>> | "service";
  /** False for a command that only looks or changes; true if not given. */
  readonly begins?: boolean;
}

function stray({ begins = true, ...options }: Place) {
  using home = temporaryFolder();
  const env = { XDG_DATA_HOME: home.path };
  const own = join(home.path, "rehome");
  if (options.own !== undefined) mkdirSync(own);
  if (options.own === "catalogue") writeFileSync(join(own, "rehome.db"), "");
  const service = join(home.path, "service");
  if (options.service) mkdirSync(service);
  const variables = new Map(Object.entries({ REHOME_DATA: service, ...options.settings }));
  const machine = {
    uid: 1000,
    service: () => ({ file: "/etc/default/rehome", variables, account: undefined }),
    become: () => undefined,
  };
  const flags = options.flags === "service" ? { data: service } : (options.flags ?? {});
  const { config } = loadConfig(flags, env, []);
  try {
    refuseStray(config, testIo({ env, machine }), { begins }, service);
    return "goes on";
  } catch (error) {
    return (error as Error).message;
  }
}

test("a file with more than one line holds no address", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "store");
  const address = "postgres://rehome@db/rehome";
  writeFileSync(file, `${address}\n`);
  expect(await addressIn(file, "store-file")).toBe(address);
  writeFileSync(file, `${address}\n# a note\n`);
  expect(addressIn(file, "store-file")).rejects.toThrow(`The file ${file} has more than one line.`);
});

describe("a command that was told no folder", () => {
  test("does not begin a catalogue beside that of the machine's service", () => {
    const words = /^There is no catalogue in .*\/rehome, and the service of this machine keeps /;
    expect(stray({ service: true })).toMatch(words);
    expect(stray({ own: "empty", service: true })).toMatch(words);
  });

  test("goes on with its own where there is one, or no service", () => {
    expect(stray({ own: "catalogue", service: true })).toBe("goes on");
    expect(stray({ service: false })).toBe("goes on");
  });
});

test("a command that adds something begins a catalogue in the folder that it was told", () => {
  expect(stray({ service: true, flags: { data: "/tmp/other" } })).toBe("goes on");
  expect(stray({ service: true, flags: { store: "postgres://db/x" } })).toBe("goes on");
});

describe("a command that adds something to the service's folder", () => {
  const flags = "service";

  test.each([
    ["names one in a file", { REHOME_PORT: "80", REHOME_STORE_FILE: "/etc/rehome/store" }],
    ["names one", { REHOME_STORE: "postgres://u:hunter2@db/x" }],
  ])("begins no catalogue there when its service keeps a database and %s", (_, settings) => {
    const said = stray({ service: true, flags, settings });
    expect(said).toMatch(/^The service of this machine keeps its data in a database, not in /);
    expect(said).not.toContain("hunter2");
  });

  test("begins one there when nothing says so", () => {
    expect(stray({ service: true, flags })).toBe("goes on");
  });
});

describe("a command that only looks or changes", () => {
  const begins = false;

  test("begins no catalogue, in a misspelt folder or where there is none yet", () => {
    using folder = temporaryFolder();
    const flags = { data: join(folder.path, "misspelt") };
    const words = `There is no catalogue in ${flags.data}.`;
    expect(stray({ begins, service: true, flags })).toBe(words);
    expect(stray({ begins, service: false, flags })).toBe(words);
    expect(stray({ begins, service: false })).toMatch(/^There is no catalogue in .*\/rehome\.$/);
  });

  test("goes on where there is one, or a database", () => {
    expect(stray({ begins, own: "catalogue", service: true })).toBe("goes on");
    expect(stray({ begins, service: true, flags: { store: "postgres://db/x" } })).toBe("goes on");
  });
});
