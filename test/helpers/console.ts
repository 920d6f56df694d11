/** The console of a running executable: its address, people, and a browser of requests. */
import { afterAll, beforeAll, expect } from "bun:test";
import { serve, temporaryFolder } from "./binary.ts";
import { command } from "./command.ts";

/** Believes visitors' addresses: wrong tries of one do not count for another. */
const behindProxy = ["--trusted-proxy", "127.0.0.1"];
export type RunningConsole = Awaited<ReturnType<typeof serveConsole>>;

/** Starts `rehome serve` with a console on a free port of this machine. */
export async function serveConsole(
  folder: string | undefined,
  args: readonly string[] = [],
  options: Parameters<typeof serve>[2] = {},
) {
  const server = await serve(folder, ["--console", "127.0.0.1:0", ...args], options);
  const [, origin] = /^ {2}Console (https?:\/\/\S+)$/m.exec(server.stdout()) ?? [];
  if (origin === undefined) throw new Error(`no console:\n${server.stdout()}${server.stderr()}`);
  /** The origin of the console. */
  return { ...server, console: origin };
}

/** Serves a new folder with a console to all tests of a file; people join it by their names. */
export function consoleForAll(args: readonly string[] = behindProxy) {
  const folder = temporaryFolder();
  let server: RunningConsole;
  beforeAll(async () => void (server = await serveConsole(folder.path, args)));
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    folder[Symbol.dispose]();
  });
  return {
    path: folder.path,
    get server() {
      return server;
    },
    joined: async (name: string, role: "staff" | "operator" = "staff") =>
      new Visitor(server.console).join(await invite(folder.path, name, role)),
  };
}

/** Invites somebody, and returns the link. `place` is a data folder, or flags of a store. */
export async function invite(
  place: string | readonly string[],
  name: string,
  role: "staff" | "operator",
): Promise<string> {
  const { stdout, stderr } = await command([
    "people",
    "invite",
    name,
    "--role",
    role,
    ...(typeof place === "string" ? ["--data", place] : place),
    "--json",
  ]);
  if (stdout === "") throw new Error(stderr);
  return (JSON.parse(stdout) as { url: string }).url;
}

let visitors = 0;

/** A browser without a screen: keeps cookies, sends forms as a page of the console does. */
export class Visitor {
  readonly #origin: string;
  readonly #address = `10.9.${((visitors += 1) >> 8) & 255}.${visitors & 255}`;
  readonly cookies = new Map<string, string>();

  constructor(origin: string) {
    this.#origin = origin;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.#ask("GET", path, undefined, headers);
  }

  post(
    path: string,
    fields: Record<string, string> | URLSearchParams | FormData = {},
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const body = fields instanceof FormData ? fields : new URLSearchParams(fields);
    return this.#ask("POST", path, body, { origin: this.#origin, ...headers });
  }

  /** Begins to send a form that does not end before the returned function is called. */
  unfinished(path: string, text = "name="): () => Promise<Response> {
    const ended = Promise.withResolvers<void>();
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode(text));
        await ended.promise;
        controller.close();
      },
    });
    const type = { "content-type": "application/x-www-form-urlencoded" };
    const answer = this.#ask("POST", path, body, { origin: this.#origin, ...type });
    return () => {
      ended.resolve();
      return answer;
    };
  }

  /** The page that a form leads to. */
  async submit(path: string, fields: Record<string, string> | FormData = {}): Promise<string> {
    const answer = await this.post(path, fields);
    expect([path, answer.status]).toEqual([path, 303]);
    return (await this.get(answer.headers.get("location") ?? "")).text();
  }

  async join(link: string): Promise<this> {
    const answer = await this.post(new URL(link).pathname);
    expect(answer.status).toBe(303);
    return this;
  }

  async #ask(
    method: string,
    path: string,
    body: URLSearchParams | FormData | ReadableStream | undefined,
    headers: Record<string, string>,
  ): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(new URL(path, this.#origin), {
      method,
      redirect: "manual",
      headers: {
        ...(cookie !== "" && { cookie }),
        "x-forwarded-for": this.#address,
        ...headers,
      },
      ...(body !== undefined && { body }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }
}

/** Sends a file, and returns the page that it leads to once it was read. */
export async function sent(
  visitor: Visitor,
  name: string,
  content: string | Uint8Array<ArrayBuffer>,
): Promise<string> {
  const form = new FormData();
  form.set("file", new File([content], name));
  await visitor.submit("/import", form);
  return settled(visitor);
}

/** The page of Import, once no work is under way. */
export async function settled(visitor: Visitor): Promise<string> {
  for (;;) {
    const page = await (await visitor.get("/import")).text();
    if (!page.includes("data-poll")) return page;
    await Bun.sleep(20);
  }
}
