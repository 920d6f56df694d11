import { $ } from "./elements.js";
import { visit } from "./visit.js";

/** Where `g` and a letter go. */
const places = { a: "/animals", i: "/import", c: "/categories" };
const goingMs = 1_000;

/** The keys that the page of help lists. */
export function startKeyboard() {
  let wentMs = Number.NEGATIVE_INFINITY;
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (key === "Escape" && target.matches("input, select, textarea")) {
      // A browser empties a search and tells no script of it.
      event.preventDefault();
      return target.blur();
    }
    if (target.matches("input:not([type=checkbox]), select, textarea")) return;
    const isGoing = performance.now() - wentMs < goingMs;
    wentMs = key === "g" ? performance.now() : Number.NEGATIVE_INFINITY;
    if (isGoing && places[key]) return void visit(places[key]);
    if (key === "n") {
      event.preventDefault();
      return void add();
    }
    const shortcut = /^[/?]$/.test(key) && $(`[data-key="${key}"]`);
    if (!shortcut) return;
    event.preventDefault();
    shortcut.focus();
    shortcut.click();
  });
}

/** Leads to the field for the name of a new animal, on this page or its own. */
async function add() {
  const field = () => $('[action="/animals"] #name');
  if (!field()) await visit("/animals/new");
  field()?.focus();
}
