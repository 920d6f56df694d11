/** The keys: a list, and a form for another one. */
import type { ApiKey } from "../../../domain/api-key.ts";
import { durationRule, parseDuration } from "../../duration.ts";
import { AppError } from "../../../domain/errors.ts";
import { isLimit, limitsOf, planNames, type PlanName } from "../../../domain/plan.ts";
import type { IssuedKey } from "../../../service/keys.ts";
import { html, type Html } from "../../../web/html.ts";
import { keyService, keyState } from "../../keys/service.ts";
import { planTitles } from "../../plan-titles.ts";
import { fold } from "../../visible.ts";
import { type Form, readForm } from "../body.ts";
import { query, type Visit } from "../visit.ts";
import { nameError } from "./animal.ts";
import { page } from "./page.ts";
import {
  copyField,
  entry,
  Fields,
  isWrong,
  keyName,
  lines,
  mainForm,
  notice,
  number,
  pageLinks,
  when,
  type FieldErrors,
} from "./parts.ts";

/** Most services have fewer keys. */
const pageKeys = 50;

/** `GET /keys`: the keys, the newest first. */
export async function keysPage(visit: Visit): Promise<Response> {
  const { words, services } = visit;
  const all = await keyService(services).list();
  const text = query(visit, "q");
  const wanted = fold(text);
  const found = all
    .filter(({ id, name }) => id === text || fold(name).includes(wanted))
    .toReversed();
  const start = found.findIndex(({ id }) => id === query(visit, "before")) + 1;
  const shown = found.slice(start, start + pageKeys);
  const older = found.length > start + pageKeys && shown.at(-1)?.id;
  const of = words.keys.of(number(visit, found.length), number(visit, all.length));
  return page(visit, {
    title: words.sections.keys,
    section: "keys",
    body: html`<p><a class="button main" href="/keys/new">${words.buttons.createKey}</a></p>
      ${all.length > pageKeys / 2 && keySearch(visit, text)}
      <div id="results">
        <p class="soft" role="status">${all.length === 0 ? words.keys.none : of}</p>
        ${
          shown.length > 0 &&
          html`<section class="card">${lines(shown.map((each) => keyLine(visit, each)))}</section>`
        }
        ${pageLinks(visit, [
          [start > 0 && listPath(text), words.animals.newest],
          [older && listPath(text, older), words.animals.older],
        ])}
      </div>`,
  });
}

function keySearch({ words }: Visit, text: string): Html {
  return html`<form class="search" action="/keys">
    <label for="q">${words.fields.search}</label>
    <div class="row">
      <input id="q" name="q" type="search" value="${text}" placeholder="${words.keys.searchHint}" />
      <button class="quiet">${words.buttons.find}</button>
    </div>
  </form>`;
}

function listPath(text: string, before?: string): string {
  const parameters = new URLSearchParams({ ...(text && { q: text }), ...(before && { before }) });
  return `/keys?${parameters.toString()}`;
}

function keyLine(visit: Visit, key: ApiKey): Html {
  const { words } = visit;
  return entry(
    html`<a href="/keys/${key.id}">${keyName(key)}</a>`,
    html`${planTitles[key.plan]} ·
    ${key.id}${key.readOnly && html` · ${words.keys.accesses["read-only"]}`}`,
    stateTag(visit, key),
  );
}

/** The state of a key as a word with a colour. */
export function stateTag({ words, nowMs }: Visit, key: ApiKey): Html {
  const state = keyState(key, nowMs);
  return html`<span class="tag ${state}">${words.keys.states[state]}</span>`;
}

/** `GET /keys/new`: a form for another one. */
export function newKeyPage(visit: Visit, errors: FieldErrors = {}): Response {
  const { words } = visit;
  const hints = { name: words.keys.nameHint, expires: words.keys.expiresHint };
  return page(visit, {
    title: words.buttons.createKey,
    section: "keys",
    back: ["/keys", words.keys.back],
    errors,
    at: "/keys/new",
    body: html`<section class="card narrow">
      ${mainForm(
        visit,
        "/keys/new",
        html`${keyFields(visit, new Fields(visit, { plan: "free" }, errors), hints)}
          <button>${words.buttons.createKey}</button>`,
      )}
    </section>`,
  });
}

const keyTexts = ["name", "plan", "perMinute", "perDay", "expires"] as const;

/** What stands in the form of a key, as text. */
export type KeyForm = Readonly<Record<(typeof keyTexts)[number], string>> & {
  readonly readOnly: boolean;
};
export const keyFieldNames = [...keyTexts, "readOnly"] as const;

export function sentKey(form: Form): KeyForm {
  const texts = keyTexts.map((each) => [each, form.text(each)]);
  return { ...Object.fromEntries(texts), readOnly: form.has("readOnly") } as KeyForm;
}

export function keyFields(
  visit: Visit,
  fields: Fields,
  hints: { readonly name?: string; readonly expires: string },
): Html {
  return html`${fields.text("name", { hint: hints.name })} ${planFields(visit, fields)}
  ${fields.text("expires", { hint: hints.expires })} ${fields.check("readOnly")}`;
}

/** The plan, and the two numbers that go with Enterprise only. */
function planFields(visit: Visit, fields: Fields): Html {
  const { words } = visit;
  const options = planNames.map((each) => ({ value: each, text: planText(visit, each) }));
  const more = html`inputmode="numeric"`;
  return html`${fields.select("plan", options)}
    <details ${when(fields.value("plan") === "enterprise", "open")}>
      <summary>${words.keys.enterprise}</summary>
      ${fields.text("perMinute", { more })} ${fields.text("perDay", { more })}
    </details>`;
}

/** A plan with its numbers, which each key on Enterprise has of its own. */
export function planText(visit: Visit, plan: PlanName, limits = limitsOf(plan, undefined)): string {
  const { planLine, ownLimits } = visit.words.keys;
  const title = planTitles[plan];
  if (limits === undefined) return ownLimits(title);
  return planLine(title, number(visit, limits.perMinute), number(visit, limits.perDay));
}

interface SentPlan {
  readonly plan: PlanName;
  readonly perMinute?: number;
  readonly perDay?: number;
}

/** Plan and numbers of a form, or what is wrong with them. */
function planOf(sent: KeyForm, { words }: Visit): SentPlan | { readonly wrong: FieldErrors } {
  const plan = planNames.find((each) => each === sent.plan);
  if (plan === undefined) return { wrong: { plan: words.errors.plan } };
  if (plan !== "enterprise") return { plan };
  const [perMinute, perDay] = [Number(sent.perMinute), Number(sent.perDay)];
  if (!isLimit(perMinute)) return { wrong: { perMinute: words.errors.limit } };
  if (!isLimit(perDay)) return { wrong: { perDay: words.errors.limit } };
  return { plan, perMinute, perDay };
}

/**
 * The key that a form describes, or what is wrong with it. `expiresInMs` is what the form's text
 * means, if it means anything.
 */
export function keyOf<E extends number | "never">(
  visit: Visit,
  sent: KeyForm,
  expiresInMs: E | undefined,
) {
  const { words } = visit;
  const plan = planOf(sent, visit);
  const isExpiryWrong = sent.expires !== "" && !expiresInMs;
  const wrong: FieldErrors = {
    name: nameError(sent.name, words),
    expires: isExpiryWrong ? words.errors.expires(durationRule) : undefined,
    ...("wrong" in plan && plan.wrong),
  };
  if ("wrong" in plan || isWrong(wrong)) return { wrong };
  const { name, readOnly } = sent;
  return { key: { ...plan, name, readOnly, ...(sent.expires !== "" && { expiresInMs }) } };
}

/** `POST /keys/new`: the one page that ever shows the secret. */
export async function createKey(visit: Visit): Promise<Response> {
  const { words, services, person } = visit;
  const typed = await readForm(visit);
  const sent = sentKey(typed);
  const { key, wrong } = keyOf(visit, sent, parseDuration(sent.expires));
  if (key === undefined) return newKeyPage({ ...visit, typed }, wrong);
  try {
    const issued = await keyService(services, person.name).create(key);
    return secretPage(visit, issued, words.keys.made);
  } catch (error) {
    return newKeyPage({ ...visit, typed }, keyErrors(visit, error));
  }
}

/** What is wrong with a key that the service refused. Throws what is no refusal. */
export function keyErrors({ words }: Visit, error: unknown): FieldErrors {
  if (!(error instanceof AppError) || error.kind !== "invalid_request") throw error;
  if (error.code === "keyNameTaken") return { name: words.errors.nameTaken };
  if (error.code === "secretInName") return { name: words.keys.secretInName };
  return { "": words.failures.other(error.message) };
}

/** Shows a secret this once: reloading the page asks whether to send the form again. */
export function secretPage(visit: Visit, { key, secret }: IssuedKey, title: string): Response {
  const { words } = visit;
  return page(visit, {
    title,
    section: "keys",
    isOnce: true,
    body: html`${notice("good", words.keys.once)}
      <section class="card">
        ${copyField(visit, "secret", words.keys.secretOf(key.name), secret)}
        <p>${words.keys.tell}</p>
        <p><a href="/keys/${key.id}">${keyName(key)}</a></p>
      </section>`,
  });
}
