import { durationRule, parseDuration } from "../../../domain/duration.ts";
import { AppError } from "../../../domain/errors.ts";
import { isLimit, planNames, type PlanName } from "../../../domain/plan.ts";
import { html, type Html } from "../../docs/html.ts";
import type { IssuedKey } from "../../../service/keys.ts";
import type { Visit } from "../web/visit.ts";
import { nameErrorOf } from "./animal-form.ts";
import { keyList } from "./key-list.ts";
import { consolePage } from "./layout.ts";
import {
  checkField,
  copyField,
  formError,
  keyName,
  notice,
  selectField,
  textField,
  when,
  type FieldErrors,
} from "./parts.ts";

/** `GET /keys`: the keys, and a form for another one. */
export async function keysPage(visit: Visit): Promise<Response> {
  return shown(visit, noKey);
}

async function shown(visit: Visit, sent: KeyForm, errors: FieldErrors = {}): Promise<Response> {
  const { words } = visit;
  return consolePage(visit, {
    title: words.sections.keys,
    section: "keys",
    errors,
    body: html`<h1>${words.sections.keys}</h1>
      <div class="desk">
        ${await keyList(visit)}
        <section class="card" aria-labelledby="add-title">
          <h2 id="add-title">${words.keys.addTitle}</h2>
          ${createForm(visit, sent, errors)}
        </section>
      </div>`,
  });
}

/** What stands in the form of a key, as text. */
interface KeyForm {
  readonly name: string;
  readonly plan: string;
  readonly perMinute: string;
  readonly perDay: string;
  readonly expires: string;
  readonly readOnly: boolean;
}

const noKey: KeyForm = {
  name: "",
  plan: "free",
  perMinute: "",
  perDay: "",
  expires: "",
  readOnly: false,
};

/** The form of a key as it was sent. */
export function sentKey({ form }: Visit): KeyForm {
  return {
    name: form.text("name"),
    plan: form.text("plan"),
    perMinute: form.text("perMinute"),
    perDay: form.text("perDay"),
    expires: form.text("expires"),
    readOnly: form.has("readOnly"),
  };
}

function createForm(visit: Visit, sent: KeyForm, errors: FieldErrors): Html {
  const { keys, buttons } = visit.words;
  return html`<form method="post" action="/keys" novalidate>
    ${formError(errors)}
    ${keyFields(visit, sent, errors, { name: keys.nameHint, expires: keys.expiresHint })}
    <button>${buttons.createKey}</button>
  </form>`;
}

/** The fields of a key's form. */
export function keyFields(
  visit: Visit,
  sent: KeyForm,
  errors: FieldErrors,
  hints: { readonly name?: string; readonly expires: string },
): Html {
  const { fields } = visit.words;
  const field = (name: "name" | "expires") =>
    textField({
      name,
      label: fields[name],
      value: sent[name],
      error: errors[name],
      hint: hints[name],
    });
  return html`${field("name")} ${planFields(visit, sent, errors)} ${field("expires")}
  ${checkField({ name: "readOnly", label: fields.readOnly, isOn: sent.readOnly })}`;
}

/** The plan, and the two numbers that go with Enterprise only. */
function planFields({ words }: Visit, sent: KeyForm, errors: FieldErrors): Html {
  const { plan } = sent;
  const limit = (name: "perMinute" | "perDay") =>
    textField(
      { name, label: words.fields[name], value: sent[name], error: errors[name] },
      html`inputmode="numeric"`,
    );
  return html`${selectField(
      { name: "plan", label: words.fields.plan, value: plan, error: errors["plan"] },
      planNames.map((each) => ({ value: each, text: words.keys.planLine(each) })),
    )}
    <details class="more" ${when(plan === "enterprise", "open")}>
      <summary>${words.keys.enterprise}</summary>
      ${limit("perMinute")} ${limit("perDay")}
    </details>`;
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
  const nameError = nameErrorOf(sent.name, words);
  const isExpiryWrong = sent.expires !== "" && !expiresInMs;
  const wrong: FieldErrors = {
    ...(nameError !== undefined && { name: nameError }),
    ...("wrong" in plan && plan.wrong),
    ...(isExpiryWrong && { expires: words.errors.expires(durationRule) }),
  };
  if ("wrong" in plan || Object.keys(wrong).length > 0) return { wrong };
  const { name, readOnly } = sent;
  return { key: { ...plan, name, readOnly, ...(sent.expires !== "" && { expiresInMs }) } };
}

/** `POST /keys`: the one page that ever shows the secret. */
export async function createKey(visit: Visit): Promise<Response> {
  const { words, desk, person } = visit;
  const sent = sentKey(visit);
  const { key, wrong } = keyOf(visit, sent, parseDuration(sent.expires));
  if (key === undefined) return shown(visit, sent, wrong);
  try {
    const issued = await desk.services.keys.as(person.name).create(key);
    return secretPage(visit, issued, words.keys.made);
  } catch (error) {
    return shown(visit, sent, await keyErrors(visit, error));
  }
}

/** What is wrong with a key that the service refused. Throws what is no refusal. */
export async function keyErrors(
  { desk, form, words, params }: Visit,
  error: unknown,
): Promise<FieldErrors> {
  if (!(error instanceof AppError) || error.kind !== "invalid_request") throw error;
  const isTaken = (await desk.services.keys.list()).some(
    ({ id, name }) => name === form.text("name") && id !== params["id"],
  );
  return isTaken ? { name: words.keys.taken } : { "": words.failures.other(error.message) };
}

/** Shows a secret this once: reloading the page asks whether to send the form again. */
export function secretPage(visit: Visit, { key, secret }: IssuedKey, title: string): Response {
  const { words } = visit;
  return consolePage(visit, {
    title,
    section: "keys",
    isOnce: true,
    body: html`<h1>${title}</h1>
      ${notice("good", html`<p>${words.keys.once}</p>`)}
      <section class="card">
        ${copyField(visit, "secret", words.keys.secretOf(key.name), secret)}
        <p>${words.keys.tell}</p>
        <p><a href="/keys/${key.id}">${keyName(key)}</a></p>
      </section>`,
  });
}
