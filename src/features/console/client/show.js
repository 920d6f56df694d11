import { hush } from "./announce.js";
import { $, parse } from "./elements.js";

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
