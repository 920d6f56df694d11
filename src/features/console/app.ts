/** The console as a web application: every address that it has, from top to bottom. */
import { Elysia, status } from "elysia";
import type { Peers } from "../../http/context.ts";
import { AddressLimiter } from "../../service/access.ts";
import { methodTable } from "../../http/methods.ts";
import * as animal from "./pages/animal.ts";
import * as animals from "./pages/animals.ts";
import * as categories from "./pages/categories.ts";
import * as changes from "./pages/changes.ts";
import * as health from "./pages/health.ts";
import * as imports from "./pages/import.ts";
import * as keys from "./pages/keys.ts";
import { assets, failurePage, orNotFound, messagePage, seeOther } from "./pages/page.ts";
import * as people from "./pages/people.ts";
import * as ui from "./pages/ui.ts";
import { steerSource } from "./pages/sources.ts";
import { Form, readForm } from "./body.ts";
import { join, joinPage, signedIn, signOut } from "./session.ts";
import {
  arrive,
  keepLanguage,
  once as doOnce,
  ownPage,
  pathOf,
  query,
  refusalOf,
  Recent,
  type Arrival,
  type ConsoleOptions,
  type Frame,
  type Visit,
} from "./visit.ts";
import { failure, isLanguage, languages } from "./words/index.ts";

/** What a page may load and do: its own style, script and forms. Nothing stands inline. */
const policy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types rehome",
].join("; ");

/**
 * On every response. The referrer goes to this origin only: with `no-referrer` a browser would send
 * its forms with `Origin: null` (Fetch Standard, "append a request Origin header"), and nobody
 * could tell them from a stranger's.
 */
const commonHeaders = {
  "cache-control": "no-store",
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** What every address begins with: it refuses strangers before anything of a request is read. */
function arrivals({ options, peers }: Frame) {
  return (
    new Elysia({ name: "arrivals" })
      // A route reads the body itself, after the session: here nobody has been asked who they are.
      .onParse(({ request }) => request)
      .derive(({ request, cookie }) => ({
        arrival: arrive(request, cookie, peers.get(request), options),
      }))
      .onBeforeHandle(({ arrival }) => refusalOf(arrival, options))
      .as("scoped")
  );
}

function visits(frame: Frame) {
  const { actions, report } = frame.options;
  return new Elysia({ name: "visits" })
    .use(arrivals(frame))
    .resolve(async ({ arrival }) => {
      const person = await signedIn(arrival, frame);
      // Elysia ends a request with this. The Response keeps its own status.
      if (person instanceof Response) return status(401, person);
      const isPost = arrival.request.method === "POST";
      const waiting = frame.waiting.get(person.id);
      const waits = !isPost && waiting?.path === arrival.sent.pathname ? waiting : undefined;
      if (isPost || waits !== undefined) frame.waiting.delete(person.id);
      const marks = await actions.marks(person);
      const change: Visit["change"] = (work) => actions.animals.change(person.name, work);
      const at = isPost ? frame.pageOf(arrival.sent.pathname) : undefined;
      const known = { ...arrival, ...actions, person, marks, change, at };
      const isForm = isPost && arrival.sent.pathname !== "/import";
      const coming = isForm ? sentForm(known) : Promise.resolve(waits?.form);
      const typed = await coming.catch((error: unknown) => failurePage(known, error, report));
      if (typed instanceof Response) return status(400, typed);
      const form = typed ?? new Form();
      const once: Visit["once"] = (work) => doOnce(frame.done, person, pathOf(arrival), form, work);
      const visit: Visit = { ...known, form, typed, once };
      const late = waits?.isLate === true && ui.notice("plain", arrival.words.signedOut.waited);
      return { visit: { ...visit, done: late || (await changes.changeNotice(visit)) } };
    })
    .as("scoped");
}

/** The form of somebody who was not removed while it was on its way. */
async function sentForm(visit: Omit<Visit, "form" | "once">): Promise<Form> {
  const form = await readForm(visit);
  if ((await visit.people.byId(visit.person.id)) !== undefined) return form;
  throw failure("forbidden", "removed");
}

function openRoutes(frame: Frame) {
  return new Elysia()
    .use(assets)
    .use(arrivals(frame))
    .get("/join/:token", ({ arrival, params }) => joinPage(arrival, frame, params.token))
    .post("/join/:token", ({ arrival, params }) => join(arrival, frame, params.token))
    .post("/language/:language", async ({ arrival, params }) => {
      const { request, language: former } = arrival;
      const language = isLanguage(params.language) ? params.language : former;
      if (language === params.language) keepLanguage(arrival, language);
      const page = ownPage(arrival, query(arrival, "back"));
      const back = page === undefined ? "/" : pathOf({ url: page });
      const hasForm = request.body !== null && request.headers.get("content-length") !== "0";
      if (page === undefined || !hasForm) return seeOther(back);
      // The buttons of the languages belong to the form of their page, which comes back as it was.
      const spoken = { ...arrival, language, words: languages[language].words };
      const person = await signedIn(spoken, frame, back);
      if (person instanceof Response) return person;
      const path = frame.pageOf(page.pathname);
      frame.waiting.set(person.id, { path, form: await readForm(arrival), isLate: false });
      return seeOther(back);
    });
}

export function staffRoutes(frame: Frame) {
  return new Elysia()
    .use(visits(frame))
    .get("/", () => seeOther("/animals"))
    .get("/sign-out", ({ visit }) => people.signOutPage(visit))
    .post("/link", ({ visit }) => people.ownLink(visit))
    .post("/sign-out", async ({ arrival }) => {
      await signOut(arrival, frame);
      return seeOther("/");
    })

    .get("/animals", ({ visit }) => animals.animalsPage(visit))
    .post("/animals", ({ visit }) => changes.changeAnimals(visit))
    .get("/animals/new", ({ visit }) => animal.newAnimalPage(visit))
    .post("/animals/new", ({ visit }) => animal.addAnimal(visit))
    .get("/animals/merge", ({ visit }) => changes.mergePage(visit))
    .post("/animals/merge", ({ visit }) => changes.mergeAnimals(visit))
    .get("/animals/:id", ({ visit, params }) => animal.animalPage(visit, params.id))
    .post("/animals/:id", ({ visit, params }) => animal.saveAnimal(visit, params.id))
    .post("/animals/:id/remove", ({ visit, params }) => animal.removeAnimal(visit, params.id))
    .get("/changes", ({ visit }) => changes.changesPage(visit))
    .get("/changes/:id", ({ visit, params }) => changes.changePage(visit, params.id))
    .post("/changes/:id/undo", ({ visit, params }) => changes.postUndo(visit, params.id))

    .get("/categories", ({ visit }) => categories.categoriesPage(visit))
    .post("/categories", ({ visit }) => categories.addCategory(visit))
    .get("/categories/:id", ({ visit, params }) => categories.categoryPage(visit, params.id))
    .post("/categories/:id", ({ visit, params }) => categories.renameCategory(visit, params.id))
    .get("/categories/:id/merge", ({ visit, params }) => categories.mergePage(visit, params.id))
    .post("/categories/:id/merge", ({ visit, params }) => categories.postMerge(visit, params.id))

    .get("/export/xlsx", ({ visit }) => animals.exportFile(visit))
    .get("/import", ({ visit }) => imports.importPage(visit))
    .post("/import", ({ visit }) => imports.uploadFile(visit))
    .post("/import/sources", ({ visit }) => steerSource(visit))
    .post("/import/run", ({ visit }) => imports.runImport(visit))
    .post("/import/drop", ({ visit }) => imports.dropFile(visit));
}

export function operatorRoutes(frame: Frame) {
  return new Elysia()
    .use(visits(frame))
    .onBeforeHandle(({ visit }) =>
      visit.person.role === "operator"
        ? undefined
        : messagePage(visit, 403, visit.words.failures.forbidden),
    )
    .get("/keys", ({ visit }) => keys.keysPage(visit))
    .get("/keys/new", ({ visit }) => keys.newKeyPage(visit))
    .post("/keys/new", ({ visit }) => keys.createKey(visit))
    .get("/keys/:id", ({ visit, params }) => keys.keyPage(visit, params.id))
    .post("/keys/:id", ({ visit, params }) => keys.updateKey(visit, params.id))
    .post("/keys/:id/rotate", ({ visit, params }) => keys.rotateKey(visit, params.id))
    .post("/keys/:id/revoke", ({ visit, params }) => keys.revokeKey(visit, params.id))

    .get("/health", ({ visit }) => health.healthPage(visit))

    .get("/people", ({ visit }) => people.peoplePage(visit))
    .post("/people", ({ visit }) => people.invitePerson(visit))
    .post("/people/:id/invite", ({ visit, params }) => people.inviteAgain(visit, params.id))
    .get("/people/:id/remove", ({ visit, params }) => people.removePage(visit, params.id))
    .post("/people/:id/remove", ({ visit, params }) => people.removePerson(visit, params.id));
}

/** All other addresses, and other methods of those above. */
function otherRoutes(frame: Frame, methods: ReturnType<typeof methodTable>) {
  return new Elysia().use(visits(frame)).all("/*", ({ visit, request }) => {
    const { pathname } = visit.sent;
    const allow = orNotFound(methods(pathname));
    if (["GET", "HEAD"].includes(request.method)) return seeOther(frame.pageOf(pathname));
    if (request.method === "OPTIONS") return new Response(null, { headers: { allow } });
    const page = messagePage(visit, 405, visit.words.failures.notFound);
    page.headers.set("allow", allow);
    return page;
  });
}

function consoleApp(options: ConsoleOptions, peers: Frame["peers"]) {
  const { report, isTls } = options;
  let methods: ReturnType<typeof methodTable> = () => undefined;
  const frame: Frame = {
    options,
    failures: new AddressLimiter(options.actions.clock, 5),
    done: new Recent(1_000),
    waiting: new Recent(100),
    peers,
    pageOf: (path) =>
      methods(path)?.startsWith("GET") ? path : frame.pageOf(path.replace(/\/[^/]*$/, "") || "/"),
  };
  const [open, staff, operators] = [openRoutes(frame), staffRoutes(frame), operatorRoutes(frame)];
  methods = methodTable([...open.routes, ...staff.routes, ...operators.routes]);
  return new Elysia({ strictPath: true, handler: { standardHostname: isTls } })
    .headers(commonHeaders)
    .onError((context) => {
      const { error } = context;
      // As far as the request came.
      const { arrival, visit = arrival } = context as { arrival?: Arrival; visit?: Visit };
      if (visit !== undefined) return failurePage(visit, error, report);
      report(error);
      return new Response(null, { status: 500 });
    })
    .use(open)
    .use(staff)
    .use(operators)
    .use(otherRoutes(frame, methods));
}

function closing(response: Response): Response {
  response.headers.set("connection", "close");
  return response;
}

export function consoleHandler(options: ConsoleOptions) {
  const peers: Frame["peers"] = new WeakMap();
  const app = consoleApp(options, peers);
  return async (request: Request, from?: Peers): Promise<Response> => {
    // Of an odd target, such as that of CONNECT, Bun makes no address.
    if (!/^https?:/.test(request.url) || !URL.canParse(request.url)) {
      const address = JSON.stringify(request.url);
      options.refused(`A request for ${address} was refused: it is no address.`);
      return closing(new Response(null, { status: 400 }));
    }
    if (from !== undefined) peers.set(request, from);
    const response = await app.fetch(request);
    // What nobody reads is not waited for.
    return request.body === null || request.bodyUsed ? response : closing(response);
  };
}
