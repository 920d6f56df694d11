/** Whether all is well. */
import { program } from "../../child.ts";
import type { Static } from "../../../cli/json.ts";
import type { EnvironmentVariables } from "../../../config.ts";
import { AppError } from "../../../domain/errors.ts";
import { version } from "../../../version.ts";
import { html } from "../../docs/html.ts";
import type { doctorSchema } from "../../operate/doctor/command.ts";
import type { Visit } from "../visit.ts";
import { page } from "./page.ts";
import { card, lines } from "./parts.ts";

/** `GET /health`. */
export async function healthPage(visit: Visit): Promise<Response> {
  const { words, language } = visit;
  const findings = (await visit.findings()).map(
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
    body: card(
      words.health.findings,
      html`<p class="hint">${words.health.findingsHint(version)}</p>
        <div lang="en">${lines(findings)}</div>`,
    ),
  });
}

export type Findings = Static<typeof doctorSchema>["checks"];

/**
 * What `rehome doctor` finds, in a process of its own, so that nobody waits for it. `env` names the
 * store to it. Throws `unavailable` if it printed nothing.
 */
export async function doctorFindings(env: EnvironmentVariables): Promise<Findings> {
  const child = Bun.spawn([...program(), "doctor", "--json"], {
    env: { ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, talk] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  await child.exited;
  // It fails, too, after it printed what is wrong.
  if (output !== "") return (JSON.parse(output) as Static<typeof doctorSchema>).checks;
  const message = talk.replace(/^Error: /, "").trim();
  throw new AppError("unavailable", message === "" ? "The command printed nothing." : message);
}
