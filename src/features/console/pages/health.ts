import type { Traffic } from "../../operate/traffic.ts";
import { html, type Html } from "../../docs/html.ts";
import { version } from "../../../version.ts";
import { redirect } from "../web/answer.ts";
import { param, query, type Visit } from "../web/visit.ts";
import { barChart } from "./chart.ts";
import { notFoundPage } from "./failures.ts";
import { consolePage } from "./layout.ts";
import { fact, moment, notice, number, oneButton, size } from "./parts.ts";

/** `GET /health`: whether all is well, backups, and what the service did in the last hour. */
export async function healthPage(visit: Visit): Promise<Response> {
  const { words, desk } = visit;
  const [findings, traffic] = await Promise.all([desk.health.findings(), desk.traffic()]);
  return consolePage(visit, {
    title: words.sections.health,
    section: "health",
    body: html`<h1>${words.sections.health}</h1>
      ${query(visit, "done") === "backup" && notice("good", html`<p>${words.health.backedUp}</p>`)}
      <div class="desk">
        <div>${lastHour(visit, traffic)} ${desk.health.backups && backups(visit)}</div>
        <section class="card">
          <h2>${words.health.findings}</h2>
          <p class="hint">${words.health.findingsHint}</p>
          <ul class="findings" lang="en">
            ${findings.map(
              ({ check, state, detail, advice }) =>
                html`<li class="${state}">
                  <p>
                    <span class="tag ${state}" lang="${visit.language}"
                      >${words.health.states[state]}</span
                    >
                    <strong>${check}</strong>
                  </p>
                  <p class="soft">${detail}</p>
                  ${advice !== null && html`<p>${advice}</p>`}
                </li>`,
            )}
          </ul>
        </section>
      </div>`,
  });
}

/** What the service did in the last hour, in numbers and as a chart. */
function lastHour(visit: Visit, traffic: Traffic): Html {
  const { words } = visit;
  return html`<section class="card">
    <h2>${words.health.service}</h2>
    <dl class="facts">
      ${fact(words.health.version, version)}
      ${fact(words.health.up, duration(visit, traffic.upSeconds))}
      ${fact(words.health.requests, number(visit, traffic.requests))}
      ${fact(words.health.refused, number(visit, traffic.refused))}
      ${fact(words.health.failed, number(visit, traffic.failed))}
      ${fact(
        words.health.latency,
        traffic.requests === 0
          ? words.health.noRequests
          : words.health.quantiles(traffic.p50Ms, traffic.p99Ms),
      )}
    </dl>
    ${barChart(visit, {
      title: words.health.chart,
      bars: traffic.perMinute.map((value, at) => ({
        label: words.health.minutesAgo(traffic.perMinute.length - 1 - at),
        value,
        more: 0,
      })),
    })}
  </section>`;
}

function duration({ words }: Visit, seconds: number): string {
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  return words.health.duration(days, hours, minutes);
}

function backups(visit: Visit): Html {
  const { words, desk } = visit;
  const made = desk.health.backups?.list() ?? [];
  return html`<section class="card">
    <h2>${words.health.backups}</h2>
    <p class="hint">${words.health.backupHint}</p>
    ${oneButton("/health/backup", words.buttons.backup, { kind: "" })}
    ${
      made.length > 0 &&
      html`<ul class="lines">
        ${made.map(
          ({ name, bytes, atMs }) =>
            html`<li>
              <a href="/health/backup/${name}" download>${moment(visit, atMs)}</a>
              <span class="soft">${size(visit, bytes)}</span>
            </li>`,
        )}
      </ul>`
    }
  </section>`;
}

/** `POST /health/backup`: makes one in the data folder, and removes the oldest made here. */
export async function makeBackup(visit: Visit): Promise<Response> {
  const { backups: kept } = visit.desk.health;
  if (kept === undefined) return notFoundPage(visit);
  await kept.make();
  return redirect("/health?done=backup");
}

/** `GET /health/backup/:name`. */
export function downloadBackup(visit: Visit): Response {
  return visit.desk.health.backups?.download(param(visit, "name")) ?? notFoundPage(visit);
}
