/** The keys: a list, a form for another one, and for each its plan, another secret, and its end. */
import { accessOf, isKeyBanned, type ApiKey } from "../../../domain/api-key.ts";
import { AppError } from "../../../domain/errors.ts";
import { isLimit, limitsOf, planNames, type PlanName } from "../../../domain/plan.ts";
import type { IssuedKey } from "../../../service/keys.ts";
import { html, type Html } from "../../../web/html.ts";
import { parseDuration } from "../../duration.ts";
import { KeyService, keyState } from "../../keys/service.ts";
import { planTitles } from "../../visible.ts";
import { query, type Visit } from "../visit.ts";
import { nameError } from "./animal.ts";
import { orNotFound, page, seeOther } from "./page.ts";
import * as ui from "./ui.ts";

const planFieldNames = ["plan", "perMinute", "perDay"] as const;
const keysMax = 200;

export async function keysPage(visit: Visit): Promise<Response> {
  const { words, services } = visit;
  const all = (await new KeyService(services).list()).toReversed();
  const shown = all.slice(0, keysMax);
  const of = words.keys.of(ui.number(visit, shown.length), ui.number(visit, all.length));
  return page(visit, {
    title: words.sections.keys,
    section: "keys",
    body: html`<p>${ui.link("/keys/new", words.buttons.createKey, { class: "button main" })}</p>
      <p class="soft">${all.length === 0 ? words.keys.none : of}</p>
      ${
        shown.length > 0 &&
        html`<section class="card">${ui.lines(shown.map((each) => keyLine(visit, each)))}</section>`
      }`,
  });
}

function keyLine(visit: Visit, key: ApiKey): Html {
  const readOnly = key.readOnly && ` · ${visit.words.keys.accesses["read-only"]}`;
  return ui.entry(
    ui.link(`/keys/${key.id}`, ui.keyName(key)),
    html`${planTitles[key.plan]} · ${key.id}${readOnly}`,
    stateTag(visit, key),
  );
}

function stateTag({ words, nowMs }: Visit, key: ApiKey): Html {
  const state = keyState(key, nowMs);
  return html`<span class="tag ${state}">${words.keys.states[state]}</span>`;
}

export function newKeyPage(visit: Visit, errors: ui.FieldErrors = {}): Response {
  const { words } = visit;
  const fields = new ui.Fields(visit, { plan: "free" }, errors);
  const form = html`${fields.text("name", { hint: words.keys.nameHint })}
  ${planFields(visit, fields)} ${fields.text("expires", { hint: words.keys.expiresHint })}
  ${fields.check("readOnly")} ${ui.button(words.buttons.createKey)}`;
  return page(visit, {
    title: words.buttons.createKey,
    section: "keys",
    errors,
    body: ui.narrow(ui.mainForm(visit, "/keys/new", form)),
  });
}

function planFields(visit: Visit, fields: ui.Fields): Html {
  const options = planNames.map((each) => ({ value: each, text: planText(visit, each) }));
  const more = { inputmode: "numeric" };
  return html`${fields.select("plan", options)}
    <details${ui.attributes({ open: fields.value("plan") === "enterprise" })}>
      <summary>${visit.words.keys.enterprise}</summary>
      ${fields.text("perMinute", { more })} ${fields.text("perDay", { more })}
    </details>`;
}

/** A plan with its numbers, which each key on Enterprise has of its own. */
function planText(visit: Visit, plan: PlanName, limits = limitsOf(plan, undefined)): string {
  const { planLine, ownLimits } = visit.words.keys;
  const title = planTitles[plan];
  if (limits === undefined) return ownLimits(title);
  return planLine(title, ui.number(visit, limits.perMinute), ui.number(visit, limits.perDay));
}

function sentPlan({ form, words }: Visit) {
  const plan = planNames.find((each) => each === form.text("plan"));
  const isOwn = plan === "enterprise";
  const [perMinute, perDay] = [Number(form.text("perMinute")), Number(form.text("perDay"))];
  const errorOf = (limit: number) => (isOwn && !isLimit(limit) ? words.errors.limit : undefined);
  return {
    plan,
    limits: isOwn ? { perMinute, perDay } : {},
    wrong: {
      plan: plan === undefined ? words.errors.plan : undefined,
      perMinute: errorOf(perMinute),
      perDay: errorOf(perDay),
    },
  };
}

export async function createKey(visit: Visit): Promise<Response> {
  const { words, services, person, form } = visit;
  const { plan, limits, wrong: wrongPlan } = sentPlan(visit);
  const [name, expires] = [form.text("name"), form.text("expires")];
  const expiresInMs = expires === "" ? undefined : parseDuration(expires);
  const wrong = {
    ...wrongPlan,
    name: nameError(name, words),
    expires: expires === "" || expiresInMs ? undefined : words.errors.expires,
  };
  if (plan === undefined || ui.isWrong(wrong)) return newKeyPage(visit, wrong);
  const wanted = { name, plan, ...limits, readOnly: form.has("readOnly"), expiresInMs };
  try {
    const issued = await new KeyService(services, person.name).create(wanted);
    return secretPage(visit, issued, words.keys.made);
  } catch (error) {
    return newKeyPage(visit, keyErrors(visit, error));
  }
}

/** What is wrong with a key that the service refused. Throws what is no refusal. */
function keyErrors({ words }: Visit, error: unknown): ui.FieldErrors {
  if (!(error instanceof AppError) || error.kind !== "invalid_request") throw error;
  if (error.code === "keyNameTaken") return { name: words.errors.nameTaken };
  if (error.code === "secretInName") return { name: words.keys.secretInName };
  return { "": words.failures.other(error.message) };
}

/** Shows a secret this once: reloading the page asks whether to send the form again. */
function secretPage(visit: Visit, { key, secret }: IssuedKey, title: string): Response {
  const { words } = visit;
  return page(visit, {
    title,
    section: "keys",
    isOnce: true,
    body: html`${ui.notice("good", words.keys.once)}
      <section class="card">
        ${ui.copyField(visit, "secret", words.keys.secretOf(key.name), secret)}
        <p>${words.keys.tell}</p>
        <p>${ui.link(`/keys/${key.id}`, ui.keyName(key))}</p>
      </section>`,
  });
}

export async function keyPage(
  visit: Visit,
  id: string,
  errors: ui.FieldErrors = {},
): Promise<Response> {
  const { words, nowMs } = visit;
  const key = await keyOf(visit, id);
  const state = keyState(key, nowMs);
  const path = `/keys/${key.id}`;
  const [perMinute, perDay] = [String(key.limits.perMinute), String(key.limits.perDay)];
  const own = key.plan === "enterprise" && { perMinute, perDay };
  const fields = new ui.Fields(visit, { plan: key.plan, ...own, grace: "24h" }, errors);
  const { save, rotate, revoke } = words.buttons;
  const form = html`${planFields(visit, fields)} ${fields.was(...planFieldNames)} ${ui.button(save)}
    ${
      state !== "expired" &&
      html`<div class="apart">
        ${fields.text("grace", { hint: words.keys.graceHint })}
        ${ui.button(rotate, { class: "quiet", formaction: `${path}/rotate` })}
      </div>`
    }
    <div class="apart">
      ${fields.check("sure")}
      ${ui.button(revoke, { class: "quiet bad", formaction: `${path}/revoke` })}
    </div>`;
  return page(visit, {
    title: ui.keyName(key),
    section: "keys",
    beside: stateTag(visit, key),
    done: query(visit, "done") === "yes" ? ui.notice("good", words.keys.done) : undefined,
    errors,
    body: ui.desk(
      html`${
        state !== "revoked" &&
        html`<section class="card">${ui.mainForm(visit, path, form)}</section>`
      }`,
      html`<section class="card">
        ${keyFacts(visit, key)}
        <p class="hint">${words.keys.more} <code>rehome keys show ${key.id}</code></p>
      </section>`,
    ),
  });
}

function keyFacts(visit: Visit, key: ApiKey): Html {
  const { words, nowMs } = visit;
  const { keys } = words;
  const ends = key.expiresAtMs === undefined ? keys.never : ui.moment(visit, key.expiresAtMs);
  return ui.facts([
    [keys.id, html`<code>${key.id}</code>`],
    [words.fields.plan, planText(visit, key.plan, key.limits)],
    [keys.access, keys.accesses[accessOf(key)]],
    [keys.created, ui.moment(visit, key.createdAtMs)],
    [keys.ends, ends],
    isKeyBanned(key, nowMs) && [keys.bannedUntil, ui.moment(visit, key.ban.bannedUntilMs)],
  ]);
}

/** `POST /keys/:id`: the plan with its numbers, if their person changed any of them. */
export async function updateKey(visit: Visit, id: string): Promise<Response> {
  const { plan, limits, wrong } = sentPlan(visit);
  if (plan === undefined || ui.isWrong(wrong)) return keyPage(visit, id, wrong);
  const isChanged = planFieldNames.some((each) => visit.form.isChanged(each));
  return changed(visit, id, async (keys) => isChanged && keys.update(id, { plan, ...limits }));
}

export async function rotateKey(visit: Visit, id: string): Promise<Response> {
  const { services, person, words } = visit;
  const graceMs = parseDuration(visit.form.text("grace"));
  if (graceMs === undefined) return keyPage(visit, id, { grace: words.errors.expires });
  await keyOf(visit, id);
  const issued = await new KeyService(services, person.name).rotate(id, graceMs);
  return secretPage(visit, issued, words.keys.rotated);
}

export async function revokeKey(visit: Visit, id: string): Promise<Response> {
  if (!visit.form.has("sure")) return keyPage(visit, id, { sure: visit.words.errors.sure });
  return changed(visit, id, (keys) => keys.revoke(id));
}

async function changed(
  visit: Visit,
  id: string,
  change: (keys: KeyService) => Promise<unknown>,
): Promise<Response> {
  await keyOf(visit, id);
  await change(new KeyService(visit.services, visit.person.name));
  return seeOther(`/keys/${id}?done=yes`);
}

/** The key with this id; a label means none here. Throws `not_found`. */
async function keyOf({ services }: Visit, id: string): Promise<ApiKey> {
  const key = await new KeyService(services).resolve(id);
  return orNotFound(key.id === id ? key : undefined);
}
