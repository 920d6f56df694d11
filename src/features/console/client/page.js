/** The page in place: what is fetched is shown where the present one is. */
export const $ = (selector, root = document) => root.querySelector(selector);

const policy = globalThis.trustedTypes?.createPolicy("rehome", { createHTML: (text) => text });

/** The document of a page of this server. */
export const parse = (text) =>
  new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "text/html");

/** Says something where a screen reader hears it; without a text, that the service is away. */
export function announce(text = document.body.dataset.lost, kind = "bad") {
  let place = $("#announcement");
  if (!place) {
    place = document.createElement("div");
    place.id = "announcement";
    document.body.append(place);
  }
  place.className = `notice ${kind}`;
  place.setAttribute("role", kind === "bad" ? "alert" : "status");
  place.textContent = text;
}

/** Says what the page of a failure says. */
export function announceFailure(text) {
  announce($("main h1 ~ *", parse(text))?.textContent);
}

/** Takes back what was announced. */
export const hush = () => $("#announcement")?.remove();

const listeners = [];

/** Calls `listener` now, and after each fetched page: with the id of the part, if any. */
export function whenShown(listener) {
  listeners.push(listener);
  listener();
}

/**
 * Puts the page with this text in the place of the present one. With `part`, only the element of
 * that id. `push` makes a step of the browser's history.
 */
export function show(text, address, { push, part }) {
  const page = parse(text);
  hush();
  if (push && address !== location.href) {
    // So that Back leads to where somebody was on this page.
    history.replaceState({ top: scrollY }, "");
    history.pushState({}, "", address);
  }
  const restore = restorer();
  const refocus = refocuser();
  if (part === undefined || !replacePart(part, page)) replaceAll(page);
  restore();
  if (part === undefined) refocus(push);
  for (const listener of listeners) listener(part);
}

function replacePart(id, page) {
  const target = $(`#${id}`);
  const source = $(`#${id}`, page);
  if (!target || !source) return false;
  target.replaceWith(source);
  if (id === "results") $("#q").defaultValue = $("#q", page).value;
  return true;
}

/** Only what differs from page to page. */
function replaceAll(page) {
  document.title = page.title;
  document.documentElement.lang = page.documentElement.lang;
  Object.assign(document.body.dataset, page.body.dataset);
  document.body.replaceChildren(...page.body.childNodes);
}

/** Returns what gives the new page all that was typed and ticked, and not sent. */
function restorer() {
  const typed = "form:not([data-sent]) :is(input:not([type=file]), select)[id]";
  const ticked = "body:not(:has(#several[data-sent])) .animals :checked";
  const kept = document.querySelectorAll(`${typed}, ${ticked}`);
  return () => {
    for (const each of kept) {
      const { id, form, value, checked, defaultValue = $("[selected]", each)?.value } = each;
      const field = $(`:is([action="${form?.getAttribute("action")}"], .animals) #${id}`);
      if (field && value.trim() !== defaultValue) field.value = value;
      if (field && checked) field.checked = true;
    }
  };
}

/** Returns what puts the focus where it was, or where the new page wants it, and scrolls there. */
function refocuser() {
  const focused = document.activeElement;
  const { top } = focused.getBoundingClientRect();
  return (push) => {
    const same = focused.id && document.getElementById(focused.id);
    const wanted = $("[autofocus]") ?? same;
    if (wanted) wanted.focus({ preventScroll: !wanted.matches("[autofocus]") });
    else $("main")?.focus({ preventScroll: true });
    // A notice above it moves nothing away from the pointer.
    const moved = same && same === wanted && same.getBoundingClientRect().top - top;
    if (moved) scrollBy({ top: moved, behavior: "instant" });
    const hash = location.hash && document.getElementById(location.hash.slice(1));
    if (hash) hash.scrollIntoView();
    else if (push && (!wanted || wanted.matches("main"))) scrollTo(0, 0);
  };
}

/** Only the undo of a very large import takes longer. */
const lateMs = 10_000;

let latest = 0;
let underWay = 0;

/** Each request for a page has a turn. Only the page of the latest is shown. */
export const newTurn = () => (latest += 1);
export const latestTurn = () => latest;
export const isBusy = () => underWay > 0;

/** Calls `late` when no answer came for long. Nothing is sent again: it may have been stored. */
export const whenLate = (late) => setTimeout(() => late(), lateMs);
export const announceLate = () => announce(document.body.dataset.late);

/**
 * Fetches an address and shows what came. What is not a page is left to the browser with `leave`.
 * Calls `late` when the answer takes long. Resolves with false when it is lost.
 */
export async function visit(address, options = {}) {
  const { init, push = true, part, leave, late, turn = newTurn() } = options;
  underWay += 1;
  document.body.setAttribute("aria-busy", "true");
  const isAwaited = () => init !== undefined || turn === latest;
  const timer = whenLate(() => {
    if (isAwaited()) announceLate();
    late?.();
  });
  try {
    const answer = await fetch(address, { credentials: "same-origin", ...init });
    const text = () => answer.text();
    // What was typed stays, also where a proxy says that the service is away, or a session ended.
    if (answer.status >= 429 || (init !== undefined && answer.status === 401)) {
      const failure = await text();
      if (isAwaited() && answer.status === 401) announce(document.body.dataset.ended);
      else if (isAwaited()) announceFailure(failure);
      return false;
    }
    if (!answer.headers.get("content-type")?.startsWith("text/html")) {
      leave?.();
      return true;
    }
    const page = await text();
    // A refused form comes back also to who went on meanwhile: it has what they typed.
    const isRefused = init !== undefined && !answer.ok;
    if (isRefused) newTurn();
    if (isRefused || turn === latest) show(page, answer.url, { push, part });
    return true;
  } catch {
    if (isAwaited()) announce();
    return false;
  } finally {
    clearTimeout(timer);
    underWay -= 1;
    if (underWay === 0) document.body.removeAttribute("aria-busy");
  }
}

/** Follows links in place, and Back and Forward to where somebody was. */
export function startVisits() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    const { ctrlKey, metaKey, shiftKey, altKey, button } = event;
    if (!link || ctrlKey || metaKey || shiftKey || altKey || button !== 0) return;
    if (link.origin !== location.origin || link.hasAttribute("download")) return;
    if (link.hash && link.pathname === location.pathname) return;
    event.preventDefault();
    void visit(link.href, { leave: () => (location.href = link.href) });
  });
  addEventListener("popstate", ({ state }) => {
    const scroll = () => state && scrollTo({ top: state.top, behavior: "instant" });
    void visit(location.href, { push: false }).then(scroll);
  });
}
