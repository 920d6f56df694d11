/** Whether all is well, and backups to take away. */
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { program } from "../../schedule/child.ts";
import type { Static } from "../../json.ts";
import { type Config, dataFolderOf, type EnvironmentVariables } from "../../../config.ts";
import { minuteMs } from "../../../domain/clock.ts";
import { AppError } from "../../../domain/errors.ts";
import { version } from "../../../version.ts";
import { html, type Html } from "../../../web/html.ts";
import { datedNames } from "../../operate/backup/names.ts";
import type { doctorSchema } from "../../operate/doctor/command.ts";
import { query, type Visit } from "../visit.ts";
import { download, orNotFound, page, seeOther } from "./page.ts";
import * as ui from "./ui.ts";

export async function healthPage(visit: Visit): Promise<Response> {
  const { words, health } = visit;
  // What is wrong comes first.
  const order = ["fail", "warn", "ok"];
  const found = (await health.findings()).toSorted(
    (a, b) => order.indexOf(a.state) - order.indexOf(b.state),
  );
  const findings = found.map(({ check, state, detail, advice }) => {
    const [title, trouble] = words.health.checks[check] ?? [check, ""];
    const said = [detail, advice].filter((each) => each !== null);
    return html`<li>
      <div class="what">
        <strong>${title}</strong>
        ${state !== "ok" && trouble !== "" && html`<span>${trouble}</span>`}
        ${said.map((each) => html`<span class="soft" lang="en">${each}</span>`)}
      </div>
      <span class="tag ${state}">${words.health.states[state]}</span>
    </li>`;
  });
  const body = html`<p class="hint">${words.health.findingsHint(version)}</p>
    ${ui.lines(findings)}`;
  return page(visit, {
    title: words.sections.health,
    section: "health",
    done: query(visit, "done") === "backup" ? ui.notice("good", words.health.backedUp) : undefined,
    body: ui.desk(
      ui.card(words.health.findings, body),
      html`${health.backups && backupList(visit, health.backups)}`,
    ),
  });
}

function backupList(visit: Visit, backups: NonNullable<Health["backups"]>): Html {
  const { words } = visit;
  const files = backups.list().map(({ name, bytes, atMs }) => {
    const file = ui.link(`/health/backup/${name}`, ui.moment(visit, atMs), { download: true });
    return html`<li>${file} <span class="soft">${ui.size(visit, bytes)}</span></li>`;
  });
  return ui.card(
    words.health.backups,
    html`<p class="hint">${words.health.backupHint}</p>
      ${ui.oneButton("/health/backup", words.buttons.backup, { kind: "" })} ${ui.lines(files)}`,
  );
}

/** `POST /health/backup`: makes one in the data folder, and removes the oldest made here. */
export async function makeBackup(visit: Visit): Promise<Response> {
  await orNotFound(visit.health.backups).make();
  return seeOther("/health?done=backup");
}

export function downloadBackup(visit: Visit, name: string): Response {
  return orNotFound(visit.health.backups?.download(name));
}

/** How long a look at the whole of the store holds for the mark in the menu. */
const lookAgainMs = 60 * minuteMs;
/** Backups kept in the data folder: they are on the same disk, and meant to be downloaded. */
const keptBackups = 3;
const folderName = "console-backups";

export type Health = ReturnType<typeof openHealth>;

/** `env` names the store to commands. */
export function openHealth(config: Config, env: EnvironmentVariables) {
  const data = dataFolderOf(config);
  let lookedAtMs = -Infinity;
  let hasTrouble = false;
  const findings = async () => {
    lookedAtMs = performance.now();
    const { checks, state } = (await commandJson(["doctor"], env)) as Static<typeof doctorSchema>;
    hasTrouble = state !== "ok";
    return checks;
  };
  return {
    findings,
    /** True if something was wrong at the last look; looks again if that was long ago. */
    hasTrouble(): boolean {
      const isOld = performance.now() - lookedAtMs > lookAgainMs;
      // The next page says what it finds.
      if (isOld) void findings().catch(() => (hasTrouble = true));
      return hasTrouble;
    },
    /** Undefined where a database server keeps the data, and has its own tools. */
    backups: data === undefined ? undefined : backupsIn(join(data, folderName), env),
  };
}

function backupsIn(folder: string, env: EnvironmentVariables) {
  let making: Promise<unknown> | undefined;
  const list = () => {
    const all = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
    const files = all.filter((entry) => entry.isFile()).map(({ name }) => name);
    return datedNames(files)
      .toReversed()
      .map(({ name, at }) => {
        return { name, bytes: Bun.file(join(folder, name)).size, atMs: Date.parse(at) };
      });
  };
  return {
    list,
    /** Makes one, or waits for the one that is being made. The oldest of too many goes. */
    async make() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      making ??= commandJson(["backup", folder, "--keep", String(keptBackups)], env).finally(() => {
        making = undefined;
      });
      await making;
    },
    download(name: string) {
      const file = list().find((each) => each.name === name);
      if (file === undefined) return undefined;
      return download(Bun.file(join(folder, file.name)), file.name, "application/octet-stream");
    },
  };
}

/**
 * Runs a command of this program with `--json` in a process of its own, so that nobody waits for
 * it, and returns what it printed. A command that failed after it printed its document is as good
 * as one that did not. Throws `unavailable`.
 */
async function commandJson(words: readonly string[], env: EnvironmentVariables): Promise<unknown> {
  const child = Bun.spawn([...program(), ...words, "--json"], {
    env: { ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, talk] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  await child.exited;
  if (output !== "") return JSON.parse(output);
  const message = talk.replace(/^Error: /, "").trim();
  throw new AppError("unavailable", message === "" ? "The command printed nothing." : message);
}
