/** Whether all is well, and backups to take away. */
import { version } from "../../../version.ts";
import { html, type Html } from "../../docs/html.ts";
import { query, type Visit } from "../visit.ts";
import { notFoundPage, page, seeOther } from "./page.ts";
import { card, desk, lines, moment, notice, oneButton, size } from "./parts.ts";

/** `GET /health`. */
export async function healthPage(visit: Visit): Promise<Response> {
  const { words, health, language } = visit;
  const findings = (await health.findings()).map(
    ({ check, state, detail, advice }) =>
      html`<li>
        <div class="what">
          <strong>${check}</strong>
          <span class="soft">${detail}</span>
          ${advice !== null && html`<span>${advice}</span>`}
        </div>
        <span class="tag ${state}" lang="${language}">${words.health.states[state]}</span>
      </li>`,
  );
  return page(visit, {
    title: words.sections.health,
    section: "health",
    done: query(visit, "done") === "backup" ? notice("good", words.health.backedUp) : undefined,
    body: desk(
      card(
        words.health.findings,
        html`<p class="hint">${words.health.findingsHint(version)}</p>
          <div lang="en">${lines(findings)}</div>`,
      ),
      html`${health.backups && backupList(visit, health.backups)}`,
    ),
  });
}

function backupList(visit: Visit, backups: NonNullable<Visit["health"]["backups"]>): Html {
  const { words } = visit;
  const files = backups.list().map(
    ({ name, bytes, atMs }) =>
      html`<li>
        <a href="/health/backup/${name}" download>${moment(visit, atMs)}</a>
        <span class="soft">${size(visit, bytes)}</span>
      </li>`,
  );
  return card(
    words.health.backups,
    html`<p class="hint">${words.health.backupHint}</p>
      ${oneButton("/health/backup", words.buttons.backup, { kind: "" })} ${lines(files)}`,
  );
}

/** `POST /health/backup`: makes one in the data folder, and removes the oldest made here. */
export async function makeBackup(visit: Visit): Promise<Response> {
  const { backups } = visit.health;
  if (backups === undefined) return notFoundPage(visit);
  await backups.make();
  return seeOther("/health?done=backup");
}

/** `GET /health/backup/:name`. */
export function downloadBackup(visit: Visit, name: string): Response {
  return visit.health.backups?.download(name) ?? notFoundPage(visit);
}
