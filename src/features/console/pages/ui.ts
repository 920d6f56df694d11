/** What pages are made of: fields, notices, and values as a reader sees them. */
import { isoSeconds } from "../../../domain/clock.ts";
import { petStatuses, type PetStatus } from "../../../domain/pet.ts";
import type { Category } from "../../animals/categories.ts";
import type { FieldChange, FieldValue } from "../../animals/animals.ts";
import { html, trusted, type Html } from "../../../web/html.ts";
import { isNamed, isVisible } from "../../visible.ts";
import type { Arrival } from "../visit.ts";
import { languages, type Words } from "../words/index.ts";

/** Errors of a form by the name of their field. `""` stands for the form as a whole. */
export type FieldErrors = Readonly<Record<string, string | undefined>>;

export const isWrong = (errors: FieldErrors): boolean =>
  Object.values(errors).some((error) => error !== undefined);

type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/** Attributes of an element: `true` stands without a value, `false` and undefined not at all. */
export function attributes(all: Attributes): Html {
  return html`${Object.entries(all).map(([name, value]) =>
    value === true
      ? trusted(` ${name}`)
      : html`${typeof value === "string" && html` ${name}="${value}"`}`,
  )}`;
}

export function button(label: string | Html, more: Attributes = {}): Html {
  return html`<button${attributes(more)}>${label}</button>`;
}

export function link(href: string, label: string | Html, more: Attributes = {}): Html {
  return html`<a${attributes({ ...more, href })}>${label}</a>`;
}

type LabelName = keyof Words["fields"];

interface FieldParts {
  readonly label?: string;
  readonly hint?: string | undefined;
  readonly more?: Attributes;
  /** By default its name, which another form of the page may have too. */
  readonly id?: string;
}

export interface Option {
  readonly value: string;
  readonly text: string;
}

type Values = Readonly<Record<string, string | boolean | undefined>>;

/** The fields of a form: each has its label, its value, and what is wrong with it. */
export class Fields {
  /** `values` are what is stored; what somebody typed on the page before stays in their place. */
  constructor(
    private readonly visit: Arrival,
    private readonly values: Values = {},
    private readonly errors: FieldErrors = {},
  ) {}

  /** What the fields have on this page, so that a form tells what its person changed. */
  was(...names: readonly string[]): Html {
    return html`${names.map((name) =>
      hidden(`was-${name}`, this.visit.typed?.was(name) ?? String(this.values[name] ?? "")),
    )}`;
  }

  text(name: string, parts: FieldParts = {}): Html {
    const described = this.#described(name, parts.hint);
    const own = { id: name, name, value: this.value(name), ...described, ...parts.more };
    return this.#field(name, parts, html`<input${attributes(own)} />`);
  }

  select(name: string, options: readonly Option[], parts: FieldParts = {}): Html {
    const own = { id: parts.id ?? name, name, ...this.#described(name, parts.hint) };
    return this.#field(name, parts, this.choice(name, options, own));
  }

  choice(name: string, options: readonly Option[], own: Attributes): Html {
    const chosen = this.value(name);
    return html`<select${attributes({ name, ...own })}>
      ${options.map(
        ({ value, text }) =>
          html`<option${attributes({ value, selected: value === chosen })}>${text}</option>`,
      )}
    </select>`;
  }

  /** A box to tick. It sends `yes`, and nothing while it is not ticked. */
  check(name: string): Html {
    const checked = this.visit.typed?.has(name) ?? this.values[name] === true;
    const label = this.visit.words.fields[name as LabelName];
    return html`${box(label, { name, value: "yes", checked, ...this.#described(name) })}
    ${this.#error(name)}`;
  }

  #field(name: string, { label, hint, id = name }: FieldParts, control: Html): Html {
    return html`<div class="field">
      <label for="${id}">${label ?? this.visit.words.fields[name as LabelName]}</label>${control}
      ${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
      ${this.#error(name)}
    </div>`;
  }

  /** Agrees to the name of a new category that was asked for, when the form is sent again. */
  agreement(name: string): Html | false {
    return this.errors[name] !== undefined && hidden("new", this.visit.typed?.text(name) ?? "");
  }

  value(name: string): string {
    return this.visit.typed?.get(name) ?? String(this.values[name] ?? "");
  }

  #error(name: string): Html | false {
    const error = this.errors[name];
    return error !== undefined && html`<p class="error" id="${name}-error">${error}</p>`;
  }

  #described(name: string, hint?: string): Attributes {
    const isWrong = this.errors[name] !== undefined;
    const ids = [isWrong && `${name}-error`, hint !== undefined && `${name}-hint`].filter(Boolean);
    return {
      "aria-describedby": ids.join(" ") || undefined,
      ...(isWrong && { "aria-invalid": "true", autofocus: true }),
    };
  }
}

export function box(label: string, own: Attributes): Html {
  return html`<label class="check"><input type="checkbox" ${attributes(own)} /> ${label}</label>`;
}

export function copyField({ words }: Arrival, id: string, label: string, value: string): Html {
  const copies = { class: "quiet only-script", type: "button", "data-copy": id };
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <div class="row">
      <input${attributes({ id, readonly: true, value, spellcheck: "false", autofocus: true })} />
      ${button(words.buttons.copy, copies)}
    </div>
  </div>`;
}

/** What stands for "no status" in a form and in an address. */
export const noStatus = "none";
export type StatusChoice = PetStatus | typeof noStatus;
export const statusChoices: readonly StatusChoice[] = [...petStatuses, noStatus];

export function statusChoice(text: string): StatusChoice | undefined {
  return statusChoices.find((each) => each === text);
}

const nearness = { available: 3, pending: 2, sold: 1, none: 0 } as const;

/** True for a change towards adoption: who was taken away from it would be shown again. */
export const isTowardsAdoption = (from: StatusChoice, to: StatusChoice): boolean =>
  nearness[to] > nearness[from];

export const storedAs = (choice: StatusChoice): PetStatus | null =>
  choice === noStatus ? null : choice;

export function statusOptions({ words }: Arrival): Option[] {
  return statusChoices.map((each) => ({ value: each, text: words.status[each] }));
}

export function moment(
  { language }: Arrival,
  ms: number,
  precision: "moment" | "day" = "moment",
): Html {
  const { [precision]: short, zoned } = languages[language];
  return html`<time
    datetime="${isoSeconds(ms)}"
    title="${zoned.format(ms)}"
    data-time="${precision}"
    >${short.format(ms)}</time
  >`;
}

export function number({ language }: Arrival, value: number | bigint): string {
  return languages[language].number.format(value);
}

export const animalsText = (visit: Arrival, count: number) =>
  visit.words.categories.animals(number(visit, count), count);

export function facts(
  pairs: readonly (readonly [name: string | Html, value: string | Html] | false)[],
): Html {
  return html`<dl class="facts">
    ${pairs
      .filter((pair) => pair !== false)
      .map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
  </dl>`;
}

export function table(
  heads: readonly string[],
  rows: readonly (readonly (string | Html)[])[],
): Html {
  return html`<div class="table" tabindex="0">
    <table>
      <thead>
        <tr>
          ${heads.map((head) => html`<th scope="col">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** The name of an animal as a reader of this language sees it; one without a name has a word. */
export function shownName({ words }: Arrival, name: string): string {
  return isNamed(name) ? name : words.animals.unnamed;
}

/** Who made a change, as a reader of this language knows them: a person, or a followed list. */
export function actorText({ words }: Arrival, actor: string): string {
  const [, list] = /^source (\S+)$/.exec(actor) ?? [];
  return list === undefined ? actor : words.sources.actor(list);
}

export function shownValue(
  visit: Arrival,
  field: string,
  value: FieldValue,
  categories: readonly Category[] = [],
): string {
  const { words } = visit;
  const text = String(value ?? "");
  if (field === "name") return shownName(visit, text);
  if (field === "status") return words.status[statusChoice(text) ?? noStatus];
  if (field === "presence") return text === "gone" ? words.import.isGone : words.import.isThere;
  return categories.find(({ id }) => String(id) === text)?.name ?? text;
}

/** A name that is read from the right does not turn what stands beside it (UAX 9). */
export const isolated = (text: string): string =>
  /[\u0590-\u08ff\ufb1d-\ufefc]/.test(text) ? `\u2068${text}\u2069` : text;

/** What a field was and is. The words of a status say that it is one. */
export function fromTo(
  visit: Arrival,
  { field, before, after }: FieldChange,
  categories: readonly Category[] = [],
): string {
  const { fields } = visit.words;
  const label = field === "name" ? fields.name : field.startsWith("category") && fields.category;
  const [from, to] = [before, after].map((each) =>
    isolated(shownValue(visit, field, each, categories)),
  );
  return `${label ? `${label}: ` : ""}${from} → ${to}`;
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

export function notice(kind: "good" | "bad" | "plain", body: string | Html): Html {
  return html`<div class="notice ${kind}" role="${kind === "bad" ? "alert" : "status"}">
    ${typeof body === "string" ? html`<p>${body}</p>` : body}
  </div>`;
}

export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}" />`;
}

/** The form of a page that has fields: the buttons of the languages, and the script, know it. */
export const formId = "form";

/**
 * That form. What it makes, it makes once: each page that makes something has a number. It is sent
 * to another address than its page's, so that Back from a page that did not come leads to it.
 */
export function mainForm(
  { typed }: Arrival,
  action: string,
  body: Html,
  { makes = false }: { readonly makes?: boolean } = {},
): Html {
  const number = makes && hidden("page", typed?.get("page") ?? crypto.randomUUID());
  return html`<form id="${formId}" method="post" action="${action}?sent" novalidate>
    ${number} ${body}
  </form>`;
}

/** A form of one button. `of` tells it from others that are called the same. */
export function oneButton(
  action: string,
  label: string,
  { kind = "quiet", fields = html``, of }: { kind?: string; fields?: Html; of?: string } = {},
): Html {
  const own = { class: kind, "aria-label": of && `${label}: ${of}` };
  return html`<form method="post" action="${action}">${fields} ${button(label, own)}</form>`;
}

export function card(title: string, body: Html): Html {
  return html`<section class="card">
    <h2>${title}</h2>
    ${body}
  </section>`;
}

export function desk(main: Html, beside: Html): Html {
  return html`<div class="desk">
    <div>${main}</div>
    <div>${beside}</div>
  </div>`;
}

export function narrow(body: Html): Html {
  return html`<section class="card narrow">${body}</section>`;
}

export function lines(entries: readonly Html[]): Html {
  return html`<ul class="lines">
    ${entries}
  </ul>`;
}

export const categoryOptions = (
  visit: Arrival,
  none: string,
  all: readonly Category[],
): Option[] => [
  { value: "", text: none },
  ...all.map((each) => ({ value: String(each.id), text: categoryName(visit, each) })),
];

export function entry(what: string | Html, about: string | Html, rest?: Html | false): Html {
  return html`<li>
    <div class="what">
      <span>${what}</span>
      <span class="soft">${about}</span>
    </div>
    ${rest}
  </li>`;
}

/** The word for an action; another version may have more of them. */
export function actionText({ words }: Arrival, action: string): string {
  const actions: Readonly<Record<string, string>> = words.history.actions;
  return actions[action] ?? action;
}

export function pageLinks(
  { words }: Arrival,
  links: readonly (readonly [path: string | false | undefined, text: string])[],
): Html {
  return html`<nav class="pages" aria-label="${words.animals.pages}">
    ${links.flatMap(([path, text]) => (path ? [link(path, text)] : []))}
  </nav>`;
}
