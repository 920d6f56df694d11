/** A browser without a script: it follows links, fills forms in and presses their buttons. */
import { expect } from "bun:test";
import type { Visitor } from "./console.ts";

interface Element {
  readonly tag: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly parent: Element | undefined;
  readonly children: Element[];
  text: string;
}

const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};
const plain = (text: string) =>
  text.replace(/&(?:amp|lt|gt|quot|#39);/g, (each) => entities[each] ?? "");
const void_ = /^(?:input|meta|link|br|hr|img)$/;

/** The elements of a page of ours, which closes each of its tags, in their order. */
function elementsOf(page: string): Element[] {
  const all: Element[] = [];
  let open: Element | undefined;
  for (const [, close, tag = "", attributes = "", text] of page.matchAll(
    /<(\/?)([a-z][\w-]*)((?:\s+[\w-]+(?:="[^"]*")?)*)\s*\/?>|([^<]+)/gi,
  )) {
    if (text !== undefined) {
      for (let each = open; each !== undefined; each = each.parent) each.text += plain(text);
    } else if (close === "/") {
      for (let each = open; each !== undefined; each = each.parent) each.text += " ";
      open = open?.parent;
    } else {
      const pairs = [...attributes.matchAll(/([\w-]+)(?:="([^"]*)")?/g)];
      const element: Element = {
        tag,
        attributes: new Map(pairs.map(([, name = "", value = ""]) => [name, plain(value)])),
        parent: open,
        children: [],
        text: "",
      };
      open?.children.push(element);
      all.push(element);
      if (!void_.test(tag)) open = element;
    }
  }
  return all;
}

const nameOf = (element: Element) =>
  element.attributes.get("aria-label") ?? element.text.replaceAll(/\s+/g, " ").trim();

/** What a browser shows of an address, and what its person has typed there. */
export class Shown {
  readonly visitor: Visitor;
  readonly #elements: readonly Element[];
  readonly #values = new Map<Element, string | boolean>();
  readonly path: string;
  readonly status: number;
  readonly text: string;

  constructor(visitor: Visitor, path: string, status: number, text: string) {
    this.visitor = visitor;
    this.path = path;
    this.status = status;
    this.text = text;
    this.#elements = elementsOf(text);
  }

  /** The words of the page as they are read. */
  get words(): string {
    const body = this.#elements.find(({ tag }) => tag === "body");
    return (body?.text ?? "").replaceAll(/\s+/g, " ");
  }

  #of(tag: string): Element[] {
    return this.#elements.filter((each) => each.tag === tag);
  }

  #formOf(control: Element): Element | undefined {
    const named = control.attributes.get("form");
    if (named !== undefined) {
      return this.#of("form").find(({ attributes }) => attributes.get("id") === named);
    }
    for (let each = control.parent; each !== undefined; each = each.parent) {
      if (each.tag === "form") return each;
    }
    return undefined;
  }

  #controls(): Element[] {
    return this.#elements.filter(({ tag }) => /^(?:input|select)$/.test(tag));
  }

  #field(name: string, value?: string): Element {
    const found = this.#controls().find(
      ({ attributes }) =>
        attributes.get("name") === name &&
        attributes.get("type") !== "hidden" &&
        (value === undefined || attributes.get("value")?.startsWith(value)),
    );
    if (found === undefined) throw new Error(`no field ${name} at ${this.path}:\n${this.words}`);
    return found;
  }

  /** What stands in a field; for a box, whether it is ticked. */
  value(name: string, of?: string): string | boolean {
    return this.#valueOf(this.#field(name, of));
  }

  #valueOf(control: Element): string | boolean {
    const typed = this.#values.get(control);
    if (typed !== undefined) return typed;
    const { attributes } = control;
    if (attributes.get("type") === "checkbox") return attributes.has("checked");
    if (control.tag === "input") return attributes.get("value") ?? "";
    const options = control.children.filter(({ tag }) => tag === "option");
    const chosen = options.find((each) => each.attributes.has("selected")) ?? options[0];
    return chosen?.attributes.get("value") ?? "";
  }

  type(values: Readonly<Record<string, string | boolean>>): this {
    for (const [name, value] of Object.entries(values)) this.#values.set(this.#field(name), value);
    return this;
  }

  /** Ticks the box of a field whose value begins like this, or takes its tick away. */
  tick(name: string, value: string, isOn = true): this {
    this.#values.set(this.#field(name, value), isOn);
    return this;
  }

  has(name: string): boolean {
    return [...this.#of("button"), ...this.#of("a")].some((each) => nameOf(each) === name);
  }

  async follow(name: string): Promise<Shown> {
    const link = this.#of("a").find((each) => nameOf(each) === name);
    if (link === undefined) throw new Error(`no link ${name} at ${this.path}:\n${this.words}`);
    return open(this.visitor, link.attributes.get("href") ?? "");
  }

  /** Presses the button of this name; the first of them if there are several. */
  async press(name: string): Promise<Shown> {
    const button = this.#of("button").find((each) => nameOf(each) === name);
    if (button === undefined) throw new Error(`no button ${name} at ${this.path}:\n${this.words}`);
    return this.#send(button);
  }

  /** What Enter in a field of this name does: it presses the first button of its form. */
  async enter(name: string): Promise<Shown> {
    const form = this.#formOf(this.#field(name));
    const button = this.#of("button").find((each) => this.#formOf(each) === form);
    if (button === undefined) throw new Error(`no button beside ${name}`);
    return this.#send(button);
  }

  async #send(button: Element): Promise<Shown> {
    const form = this.#formOf(button);
    const setting = (name: string) =>
      button.attributes.get(`form${name}`) ?? form?.attributes.get(name);
    const fields = new URLSearchParams();
    for (const control of this.#controls()) {
      const name = control.attributes.get("name");
      if (name === undefined || this.#formOf(control) !== form) continue;
      const value = this.#valueOf(control);
      if (value === true) fields.append(name, control.attributes.get("value") ?? "on");
      else if (value !== false && control.attributes.get("type") !== "file")
        fields.append(name, value);
    }
    const name = button.attributes.get("name");
    if (name !== undefined) fields.append(name, button.attributes.get("value") ?? "");
    const action = setting("action") ?? this.path;
    if (setting("method")?.toLowerCase() !== "post") {
      return open(this.visitor, `${action.replace(/\?.*/, "")}?${fields.toString()}`);
    }
    const answer = await this.visitor.post(action, fields);
    const to = answer.headers.get("location");
    if (to !== null) return open(this.visitor, to);
    return new Shown(this.visitor, action, answer.status, await answer.text());
  }
}

/** What a browser shows of an address, wherever that leads. */
export async function open(visitor: Visitor, path: string): Promise<Shown> {
  let at = path;
  for (let hops = 0; hops < 5; hops += 1) {
    const answer = await visitor.get(at.replace(/#.*/, ""));
    const to = answer.headers.get("location");
    if (to === null) return new Shown(visitor, at, answer.status, await answer.text());
    at = to;
  }
  expect(at).toBe("an end");
  throw new Error(at);
}
