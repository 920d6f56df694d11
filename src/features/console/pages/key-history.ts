import { changesOf } from "../../../cli/keys/fields.ts";
import { isOperatorReason } from "../../../domain/ban.ts";
import type { KeyDetails } from "../../../service/keys.ts";
import { html, type Html } from "../../docs/html.ts";
import type { Visit } from "../web/visit.ts";
import { moment } from "./parts.ts";

/** A key that is noisy for long has many events; a person reads the last ones. */
const eventsShownMax = 30;

/** What happened to a key, the newest first. */
export function eventList(visit: Visit, { events, secrets }: KeyDetails): Html {
  return html`<ol class="history">
    ${events
      .toReversed()
      .slice(0, eventsShownMax)
      .map(
        (event) =>
          html`<li>
            <p>
              ${visit.words.keys.actions(event.action)}
              ${changesOf(event, secrets).map(
                ({ field, before, after }) =>
                  html`<span class="change"
                    >${visit.words.keys.fields[field] ?? field}:
                    ${before !== null && html`${eventValue(visit, field, before)} → `}${
                      after === null ? "–" : eventValue(visit, field, after)
                    }</span
                  >`,
              )}
            </p>
            <p class="soft">${event.actor} · ${moment(visit, event.atMs)}</p>
          </li>`,
      )}
  </ol>`;
}

const instants = ["expiresAt", "revokedAt", "bannedUntil"];

/** The value of a field in a history; one that has words of its own in these. */
function eventValue(visit: Visit, field: string, value: string): string | Html {
  const accesses: Readonly<Record<string, string>> = visit.words.keys.accesses;
  if (field === "access") return accesses[value] ?? value;
  if (instants.includes(field)) return moment(visit, Date.parse(value));
  return field === "banReason" ? banReason(visit, value) : value;
}

/** Why a key is banned, in the words of the reader. */
export function banReason({ words }: Visit, reason: string): string {
  return words.keys.banReasons[isOperatorReason(reason) ? "operator" : "automatic"];
}
