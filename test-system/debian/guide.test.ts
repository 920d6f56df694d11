/**
 * docs/operating.md, docs/running.md and service.md, line by line: every command is taken from the
 * page and run in a copy of this system with a systemd that runs, and what it prints is what the
 * page says, but for ids, dates, keys and sizes. With UPDATE_GUIDE=1 the pages are written anew.
 */
import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inSystem } from "../../test/helpers/system.ts";
import {
  comparable,
  commandsOf,
  isUpdate,
  type PageCommand,
  withOutputs,
} from "../../test/helpers/transcript.ts";

const root = join(import.meta.dir, "../..");

/** What the website's key did on the days before the last one, as the page draws it. */
const requests = [1000, 1000, 690, 780, 870, 900, 880, 1000, 1000];

/** Writes those days into the store, as if they had been. Bun lies where the copy has no files. */
const lived = `python3 -c '
import sqlite3, time
store = sqlite3.connect("/var/lib/rehome/rehome.db")
[(id,)] = store.execute("SELECT id FROM api_keys WHERE name = ?", ("shelter website",))
requests, refusals = ${JSON.stringify(requests)}, {0: 80, 1: 100, 7: 60, 8: 100}
first = int(time.time() // 86400) - len(requests)
with sqlite3.connect("/var/lib/rehome/limits.db") as counters:
  counters.executemany(
    "INSERT INTO usage_days (key_id, day, requests, refusals, bans) VALUES (?, ?, ?, ?, ?)",
    [(id, first + at, count, refusals.get(at, 0), int(at == 8)) for at, count in enumerate(requests)])
'`;

/**
 * Requests with the website's key, from the page's own output, until the store knows of them and of
 * what was taken ahead for more.
 */
const used = `
  secret=$(grep -m1 -o 'rehome_live_[0-9A-Za-z]*' /tmp/all)
  for i in 1 2 3; do curl -sS -o /dev/null -H "Authorization: Bearer $secret" http://127.0.0.1:8080/v1/pets; done
  for i in $(seq 150); do
    used=$(sudo -u rehome rehome keys show "shelter website" --json 2>/dev/null | jq .windows.day.used)
    [ "$used" = 3 ] && break
    sleep 0.2
  done`;

/** The service makes its first backup by itself, soon after its start. */
const backedUp = `
  for i in $(seq 150); do
    sudo -u rehome rehome doctor | grep -q '^ok *backup' && break
    sleep 0.2
  done`;

const austin = readFileSync(join(root, "test/fixtures/import/austin.csv"), "utf8");

const pages = {
  "docs/operating.md": {
    prepare: `
      cp /mnt/shared/rehome /home/kim/rehome; cp /home/kim/rehome /home/kim/rehome-new
      cat >/home/kim/outcomes.csv <<'END'
${austin}END
      mkdir -p /mnt/elsewhere; chown kim /mnt/elsewhere`,
    before: {
      "sudo -u rehome rehome doctor": backedUp,
      "sudo -u rehome rehome keys list --plan free": lived,
      'sudo -u rehome rehome keys update "shelter website" --plan pro': used,
    },
  },
  "docs/running.md": {
    prepare: `
      install -m 755 /mnt/shared/rehome /usr/local/bin/rehome
      rehome service install >/dev/null`,
    before: {},
  },
  "test-system/debian/service.md": {
    prepare: "install -m 755 /mnt/shared/rehome /usr/local/bin/rehome",
    before: {},
  },
} satisfies Record<string, { prepare: string; before: Record<string, string> }>;

/**
 * Blocks that are not run here, by their first line: what tests of their own run (packages, TLS,
 * buckets, lists, the console), what a terminal shows, and what needs another machine.
 */
const notRun: readonly string[] = [
  "On the service of this machine: settings from /etc/default/rehome.",
  "2 secrets",
  "sudo journalctl -u rehome --since yesterday -o cat | jq -cR 'fromjson? | select(.refused) | [.time, .address, .keyId, .refused, .why]'",
  "npx -y bun@1.4.5 install --frozen-lockfile",
  "sudo systemctl stop rehome",
  "sudo apt install ./rehome_1.0.0_arm64.deb",
  "sudo curl -fsSL -o /etc/apt/sources.list.d/rehome.sources RELEASE_PAGES/rehome.sources",
  "sudo ufw allow 8080/tcp",
  "sudo mv /var/lib/rehome/limits.db.before-0001_last_address /var/lib/rehome/limits.db",
  "sudo rehome service install --host 0.0.0.0 --port 443",
  "rehome serve --base-url https://api.example.org/v1 --staging-base-url https://staging.example.org/v1",
  "docker build -t rehome .",
  "docker compose up -d",
  "echo 'REHOME_CONSOLE=127.0.0.1:8090' | sudo tee -a /etc/default/rehome",
  "REHOME_CONSOLE=127.0.0.1:8090",
  "@reboot     rehome  /usr/local/bin/rehome serve --data /var/lib/rehome 2>> /var/log/rehome.log",
  "sudo -u rehome rehome sources add north --url https://north.example.org/animals.csv --every 1h",
  "sudo -u rehome rehome sources show north",
  "REHOME_BACKUP_TO=s3://north-shelter/rehome",
  "rehome backup list s3://north-shelter/rehome --backup-credentials bucket",
  "REHOME_TRUSTED_PROXY=127.0.0.1",
];

/** Runs the commands as the user kim, who may use sudo. Returns what each prints. */
async function runCommands(
  commands: readonly PageCommand[],
  {
    prepare,
    before,
  }: {
    /** What root does first. */
    prepare: string;
    /** What happens on the machine before a command: by the beginning of that command. */
    before: Readonly<Record<string, string>>;
  },
): Promise<string[]> {
  const left = new Map(Object.entries(before));
  const steps = commands.map(({ command }, at) => {
    const [key, hook = ":"] = [...left].find(([start]) => command.startsWith(start)) ?? [];
    if (key !== undefined) left.delete(key);
    return [
      `sudo bash -euc ${quoted(hook)} >/tmp/hook 2>&1 || { echo "@@HOOK"; cat /tmp/hook; }`,
      `echo "@@${at}"`,
      `eval ${quoted(command)} >/tmp/out 2>&1 </dev/null || true`,
      // What systemd leaves to its journal, for whoever reads why a start failed.
      "grep -q 'journalctl -xeu' /tmp/out && sudo journalctl -u rehome -n 20 -o cat >>/tmp/out",
      "cat /tmp/out; cat /tmp/out >>/tmp/all",
    ].join("\n");
  });
  const script = `${steps.join("\n")}\n`;
  const text = await inSystem(`
    rm /usr/local/bin/rehome
    useradd --create-home --shell /bin/bash kim
    echo 'kim ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/kim
    echo "127.0.0.1 $(hostname) localhost" >/etc/hosts
    ${prepare}
    cat >/tmp/steps <<'END-OF-STEPS'
${script}END-OF-STEPS
    su - kim -c 'bash /tmp/steps'`);
  if (text.includes("@@HOOK")) throw new Error(text);
  return commands.map(
    (_, at) => (text.split(`@@${at}\n`)[1] ?? "").split("@@")[0]?.trimEnd() ?? "",
  );
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The first lines of a page's blocks that hold no command to run. */
function blocksWithoutCommand(page: string): string[] {
  const blocks = [...page.matchAll(/^```\w*\n([^]*?)^```$/gm)].map(([, text = ""]) => text);
  return blocks
    .filter((text) => !/^\$ /m.test(text))
    .map((text) => text.split("\n", 1)[0] ?? "")
    .filter((line) => !line.startsWith('{"time"'));
}

describe.each(Object.entries(pages))("%s", (name, surroundings) => {
  const file = join(root, name);
  const page = readFileSync(file, "utf8");
  const commands = commandsOf(page);
  // How many a year with the program takes: operating.md had 34 before one way to run it.
  test(`followed from its first line to its last, prints what it says: ${commands.length} commands`, async () => {
    expect(commands.length).toBeGreaterThan(5);
    expect(blocksWithoutCommand(page).filter((each) => !notRun.includes(each))).toEqual([]);
    const outputs = await runCommands(commands, surroundings);
    if (isUpdate) writeFileSync(file, withOutputs(page, outputs));
    const printed = commands.map(
      ({ command }, at) => `$ ${command}\n${comparable(outputs[at] ?? "")}`,
    );
    const said = commands.map(({ command, output }) => `$ ${command}\n${comparable(output)}`);
    if (!isUpdate) expect(printed.join("\n")).toBe(said.join("\n"));
  });
});

/** What `journalctl -u rehome -o cat` prints: lines of systemd and of the start, then the log's. */
const journal = `Starting rehome.service - rehome, an animal-adoption catalogue...
rehome 1.0.0
  API   http://127.0.0.1:8080/v1
Started rehome.service - rehome, an animal-adoption catalogue.
{"time":"2026-11-21T09:51:21.434Z","keyId":"key_rvrjrh3fx2ga","address":"127.0.0.1","refused":"not_found","why":"No animal has this id."}
`;

test.each([
  ["docs/operating.md", '["2026-11-21T09:51:21.434Z","127.0.0.1","key_rvrjrh3fx2ga",'],
  ["docs/cli.md", "1 127.0.0.1"],
])("%s reads the log in the journal", (name, shown) => {
  const page = readFileSync(join(root, name), "utf8").replaceAll(/ \\\n\s*/g, " ");
  const [, command = ""] = /^ *(?:sudo )?journalctl -u rehome .*?\| (.*)$/m.exec(page) ?? [];
  const { exitCode, stdout, stderr } = Bun.spawnSync(["bash", "-o", "pipefail", "-c", command], {
    stdin: Buffer.from(journal),
  });
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout.toString()).toContain(shown);
});
