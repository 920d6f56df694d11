/** Whether all is well, in the reader's words, and where their eyes are wanted. */
import { program } from "../../schedule/child.ts";
import type { Static } from "../../json.ts";
import type { EnvironmentVariables } from "../../../config.ts";
import { minuteMs } from "../../../domain/clock.ts";
import { AppError } from "../../../domain/errors.ts";
import type { Services } from "../../../service/services.ts";
import { version } from "../../../version.ts";
import { html } from "../../../web/html.ts";
import type { doctorSchema } from "../../operate/doctor/command.ts";
import { jobsOf } from "../../schedule/jobs.ts";
import { isStale, stateOf } from "../../sources/pull.ts";
import type { Actions, Visit } from "../visit.ts";
import { page, type Section } from "./page.ts";
import type { SourceActions } from "./sources.ts";
import * as ui from "./ui.ts";

/** `GET /health`: what the doctor finds, the worst first, in the reader's language. */
export async function healthPage(visit: Visit): Promise<Response> {
  const { words, health } = visit;
  const order = ["fail", "warn", "ok"];
  const found = (await health.findings()).toSorted(
    (a, b) => order.indexOf(a.state) - order.indexOf(b.state),
  );
  const findings = found.map(({ check, state }) => {
    const [title, trouble] = words.health.checks[check] ?? [check, ""];
    const tag = html`<span class="tag ${state}">${words.health.states[state]}</span>`;
    return ui.entry(html`<strong>${title}</strong>`, state === "ok" ? "" : trouble, tag);
  });
  return page(visit, {
    title: words.sections.health,
    section: "health",
    body: ui.narrow(
      html`<p class="hint">${words.health.hint(version)}</p>
        ${ui.lines(findings)}`,
    ),
  });
}

/** How long a look at the whole of the store holds for the mark in the menu. */
const lookAgainMs = 60 * minuteMs;

export type Health = ReturnType<typeof openHealth>;

export function openHealth(env: EnvironmentVariables) {
  let lookedAtMs = -Infinity;
  let hasTrouble = false;
  const findings = async () => {
    lookedAtMs = performance.now();
    const { checks, state } = await examined(env);
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
  };
}

/** What `rehome doctor` prints, in a process of its own, so that nobody waits for it. */
async function examined(env: EnvironmentVariables): Promise<Static<typeof doctorSchema>> {
  const child = Bun.spawn([...program(), "doctor", "--json"], {
    env: { ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, talk] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  // It fails where it found trouble, too.
  if (output !== "") return JSON.parse(output) as Static<typeof doctorSchema>;
  throw new AppError("unavailable", talk.replace(/^Error: /, "").trim());
}

const troubles: ReadonlySet<string> = new Set(["failing", "held", "partial"]);

export function marksOf(
  { store: { db }, clock }: Services,
  { sources, health }: { readonly sources: SourceActions; readonly health: Health },
): Actions["marks"] {
  return async ({ role }) => {
    const marks = new Set<Section>();
    const lists = await sources.list();
    const isWrong = lists.some((each) => troubles.has(stateOf(each)) || isStale(each, clock()));
    if (isWrong) marks.add("import");
    if (role !== "operator") return marks;
    const backups = (await jobsOf(db)).filter(({ kind }) => kind === "backup");
    const hasFailed = backups.some(({ failures, problem }) => failures > 0 || problem !== null);
    if (hasFailed || health.hasTrouble()) marks.add("health");
    return marks;
  };
}
