import { keyState, type ApiKey } from "../../../domain/api-key.ts";
import { fold } from "../../../domain/names.ts";
import type { UsedKey } from "../../../service/usage.ts";
import { html, type Html } from "../../docs/html.ts";
import { query, type Visit } from "../web/visit.ts";
import { pageLinks, searchForm } from "./list.ts";
import { keyName, number } from "./parts.ts";

/** Most services have fewer keys. */
const pageKeys = 50;

/** The state of a key as a word with a colour. */
export function stateTag({ words, nowMs }: Visit, key: ApiKey): Html {
  const state = keyState(key, nowMs);
  return html`<span class="tag ${state}">${words.keys.states[state]}</span>`;
}

/** How much of a limit is used, as a bar with its numbers. */
export function useMeter(visit: Visit, used: number, limit: number): Html {
  const share = Math.min(1, used / limit);
  return html`<span class="use"
    ><meter
      min="0"
      max="1"
      high="0.8"
      value="${share.toFixed(3)}"
      aria-label="${visit.words.keys.dayUse}"
    ></meter
    ><span>${visit.words.keys.of(number(visit, used), number(visit, limit))}</span></span
  >`;
}

/** The keys that fit the search, the newest first, a page of them. */
export async function keyList(visit: Visit): Promise<Html> {
  const { words, desk } = visit;
  const all = await desk.services.keys.list();
  if (all.length === 0) {
    return html`<section class="card"><p class="soft">${words.keys.none}</p></section>`;
  }
  const text = query(visit, "q");
  const wanted = fold(text);
  const found = all
    .filter(({ id, name }) => id === text || fold(name).includes(wanted))
    .toReversed();
  const start = found.findIndex(({ id }) => id === query(visit, "before")) + 1;
  const page = found.slice(start, start + pageKeys);
  const older = found.length > start + pageKeys && page.at(-1)?.id;
  const used = await desk.services.usage.nowOfAll(page);
  return html`<div>
    ${searchForm(visit, { action: "/keys", text, hint: words.keys.searchHint })}
    <div id="results">
      <p class="count" role="status">
        ${
          found.length === 0
            ? words.keys.noneFound
            : words.keys.of(number(visit, found.length), number(visit, all.length))
        }
      </p>
      ${
        found.length > 0 &&
        html`<section class="card">
          <ul class="lines keys">
            ${used.map((each) => keyLine(visit, each))}
          </ul>
        </section>`
      }
      ${
        found.length > pageKeys &&
        pageLinks(visit, [
          [start > 0 && listPath(text), words.keys.newest],
          [older && listPath(text, older), words.animals.older],
        ])
      }
    </div>
  </div>`;
}

function listPath(text: string, before?: string): string {
  const parameters = new URLSearchParams({ ...(text && { q: text }), ...(before && { before }) });
  return `/keys?${parameters.toString()}`;
}

function keyLine(visit: Visit, { key, use }: UsedKey): Html {
  return html`<li>
    <div class="what">
      <a href="/keys/${key.id}">${keyName(key)}</a>
      <span class="soft"
        >${visit.words.plans[key.plan]} ·
        ${key.id}${key.readOnly && html` · ${visit.words.keys.readOnly}`}</span
      >
    </div>
    ${useMeter(visit, use.counts.dayUsed, key.limits.perDay)} ${stateTag(visit, key)}
  </li>`;
}
