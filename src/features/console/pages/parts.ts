import { isoSeconds } from "../../../domain/clock.ts";
import { petStatuses, type PetStatus } from "../../../domain/pet.ts";
import { bytesText } from "../../operate/doctor/finding.ts";
import { html, trusted, type Html } from "../../docs/html.ts";
import { unnamed } from "../../import/formats/values.ts";
import type { Arrival } from "../web/visit.ts";
import { languages } from "../words/index.ts";
import { isVisible } from "../../visible.ts";

/** Errors of a form by the name of their field. `""` stands for the form as a whole. */
export type FieldErrors = Readonly<Record<string, string | undefined>>;

/** An attribute without a value, where it holds. */
export function when(holds: boolean, attribute: string): Html | undefined {
  return holds ? trusted(attribute) : undefined;
}

interface FieldParts {
  readonly name: string;
  readonly label: string;
  readonly value?: string;
  readonly error?: string | undefined;
  readonly hint?: string | undefined;
}

/** What belongs to a control: its label before it, its hint and its error behind it. */
function field({ name, label, error, hint }: FieldParts, control: Html): Html {
  return html`<div class="field${error === undefined ? "" : " wrong"}">
    <label for="${name}">${label}</label>${control}
    ${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
    ${error !== undefined && html`<p class="error" id="${name}-error">${error}</p>`}
  </div>`;
}

function described({ name, error, hint }: Omit<FieldParts, "label" | "value">): Html {
  const ids = [
    ...(error === undefined ? [] : [`${name}-error`]),
    ...(hint === undefined ? [] : [`${name}-hint`]),
  ];
  return html`${ids.length > 0 && html`aria-describedby="${ids.join(" ")}"`}
  ${error !== undefined && trusted('aria-invalid="true" autofocus')}`;
}

/** A field for a line of text. `more` are further attributes of its own. */
export function textField(parts: FieldParts, more?: Html): Html {
  return field(
    parts,
    html`<input
      id="${parts.name}"
      name="${parts.name}"
      value="${parts.value ?? ""}"
      autocomplete="off"
      ${described(parts)}
      ${more}
    />`,
  );
}

/** A text to take along, with a button that copies it. */
export function copyField({ words }: Arrival, name: string, label: string, value: string): Html {
  return field(
    { name, label },
    html`<div class="secret">
      <input id="${name}" readonly value="${value}" spellcheck="false" autofocus />
      <button class="quiet only-script" type="button" data-copy="${name}">
        ${words.buttons.copy}
      </button>
    </div>`,
  );
}

/** A field with a few values to choose from. */
export function selectField(
  parts: FieldParts,
  options: readonly { readonly value: string; readonly text: string }[],
): Html {
  return field(
    parts,
    html`<select id="${parts.name}" name="${parts.name}" ${described(parts)}>
      ${options.map(
        ({ value, text }) =>
          html`<option value="${value}" ${when(value === parts.value, "selected")}>
            ${text}
          </option>`,
      )}
    </select>`,
  );
}

/** A box to tick. It sends `yes`, and nothing while it is not ticked. */
export function checkField({
  name,
  label,
  isOn,
  error,
}: {
  readonly name: string;
  readonly label: string;
  readonly isOn: boolean;
  readonly error?: string | undefined;
}): Html {
  return html`<label class="check"
      ><input
        type="checkbox"
        name="${name}"
        value="yes"
        ${when(isOn, "checked")}
        ${described({ name, error })}
      />
      ${label}</label
    >${error !== undefined && html`<p class="error" id="${name}-error">${error}</p>`}`;
}

/** What stands for "no status" in a form and in an address. */
export const noStatus = "none";
type StatusChoice = PetStatus | typeof noStatus;
export const statusChoices: readonly StatusChoice[] = [...petStatuses, noStatus];

/** Reads a status of a form. Undefined when it is none of them. */
export function statusChoice(text: string): StatusChoice | undefined {
  return statusChoices.find((each) => each === text);
}

export function statusField({ words }: Arrival, value: string, error?: string): Html {
  return selectField(
    { name: "status", label: words.fields.status, value, error },
    statusChoices.map((each) => ({ value: each, text: words.status[each] })),
  );
}

/** More than anybody reads through in a list of suggestions. */
const suggestionsMax = 300;

export function categoryField(
  { words }: Arrival,
  value: string,
  names: readonly string[],
  error?: string,
): Html {
  return html`${textField(
      { name: "category", label: words.fields.category, value, error },
      html`list="categories" maxlength="1000"`,
    )}<datalist id="categories">
      ${names.slice(0, suggestionsMax).map((name) => html`<option value="${name}"></option>`)}
    </datalist>`;
}

/** A moment as the person reads it, with the exact one behind it. */
export function moment({ language }: Arrival, ms: number): Html {
  return html`<time datetime="${isoSeconds(ms)}">${languages[language].moment.format(ms)}</time>`;
}

/** A day as the person reads it. */
export function day({ language }: Arrival, ms: number): Html {
  return html`<time datetime="${isoSeconds(ms)}">${languages[language].day.format(ms)}</time>`;
}

/** A number with its digits in groups. */
export function number({ language }: Arrival, value: number | bigint): string {
  return languages[language].number.format(value);
}

/** Bytes as people read them, in the digits of the language. */
export function size(visit: Arrival, bytes: number): string {
  return bytesText(bytes).replace(/[\d.]+/, (value) => number(visit, Number(value)));
}

/** A line of a list of facts. */
export function fact(name: string, value: string | Html): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

/** The name of an animal as a reader of this language sees it; one without a name has a word. */
export function shownName({ words }: Arrival, name: string): string {
  if (!isVisible(name)) return words.animals.unnamed;
  return name === unnamed ? words.animals.given : name;
}

/** The name of a key, or its id when the name cannot be seen: a link needs a text. */
export function keyName({ id, name }: { readonly id: string; readonly name: string }): string {
  return isVisible(name) ? name : id;
}

/** The name of a category, or what it is called without one that can be seen. */
export function categoryName(
  { words }: Arrival,
  { id, name }: { readonly id: bigint; readonly name?: string | undefined },
): string {
  return name !== undefined && isVisible(name) ? name : words.animals.unnamedKind(String(id));
}

/** What happened, or what is wrong: announced, and in sight. */
export function notice(kind: "good" | "bad" | "plain", body: Html): Html {
  return html`<div class="notice ${kind}" role="${kind === "bad" ? "alert" : "status"}">
    ${body}
  </div>`;
}

/** What stands above a form that was not taken. */
export function formError(errors: FieldErrors): Html | undefined {
  const whole = errors[""];
  return whole === undefined ? undefined : notice("bad", html`<p>${whole}</p>`);
}

/** One value of a form that nobody sees. */
export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}" />`;
}

/** A form of one button. */
export function oneButton(
  action: string,
  label: string,
  { kind = "quiet", fields, of }: { kind?: string; fields?: Html; of?: string } = {},
): Html {
  return html`<form method="post" action="${action}" class="one">
    ${fields}<button class="${kind}" ${of !== undefined && html`aria-label="${label}: ${of}"`}>
      ${label}
    </button>
  </form>`;
}
