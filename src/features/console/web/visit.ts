import type { Desk } from "../desk.ts";
import type { Person } from "../people.ts";
import type { Language, Words } from "../words/index.ts";
import type { Form } from "./forms.ts";

/** What everybody's visit has, signed in or not. */
export interface Arrival {
  readonly request: Request;
  /** Where the person is, and where the request came to: behind a proxy these may be two. */
  readonly url: URL;
  readonly sent: URL;
  /** The address of the person, behind proxies that are trusted. */
  readonly address: string;
  readonly isSecure: boolean;
  /** Keeps the connection open for as long as the answer takes. */
  readonly bePatient: () => void;
  readonly language: Language;
  readonly words: Words;
  readonly nowMs: number;
}

/** One request of somebody who is signed in, with all that a page needs. */
export interface Visit extends Arrival {
  readonly person: Person;
  readonly params: Readonly<Record<string, string>>;
  /** The fields of the form that was sent; empty for a page that is only read. */
  readonly form: Form;
  readonly desk: Desk;
}

/** A parameter of the path. */
export function param(visit: Visit, name: string): string {
  return visit.params[name] ?? "";
}

/** A parameter of the query without blanks around it; "" where it is missing. */
export function query(visit: Arrival, name: string): string {
  return (visit.url.searchParams.get(name) ?? "").trim();
}

/** The page of the console that `text` leads to, or undefined if it leads to none. */
export function ownPage({ url }: Arrival, text: string): URL | undefined {
  const page = URL.parse(text, url.origin);
  // The path of /.//other.example is //other.example, which a browser takes for another host.
  if (page?.origin !== url.origin || page.pathname.startsWith("//")) return undefined;
  return page;
}
