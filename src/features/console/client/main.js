/**
 * The console works without this script. With it, forms are sent and pages are fetched in place.
 * What is typed stays when the service cannot be reached, and the focus stays where it was.
 */
import { startForms } from "./forms.js";
import { $, announce, isBusy, latestTurn, startVisits, visit, whenShown } from "./page.js";

const searchDelayMs = 180;
let typing;

function startAnimals() {
  document.addEventListener("input", ({ target }) => {
    if (target.form?.dataset.live && target.type === "search") search(target.form);
  });
  document.addEventListener("change", countChosen);
  whenShown((part) => {
    countChosen();
    // What was typed while this page was on its way is searched for now.
    const field = part === undefined && $("#q");
    if (field && field.value.trim() !== field.defaultValue) search(field.form);
  });
}

function search(form) {
  clearTimeout(typing);
  const turn = latestTurn();
  typing = setTimeout(() => {
    // Another page is on its way.
    if (turn !== latestTurn()) return;
    const address = `${form.action}?${new URLSearchParams(new FormData(form))}`;
    history.replaceState({}, "", address);
    void visit(address, { push: false, part: form.dataset.live });
  }, searchDelayMs);
}

/** Says how many animals are chosen, and shows what can be done with them. */
function countChosen() {
  const form = $("#several");
  if (!form) return;
  const count = document.querySelectorAll('input[form="several"]:checked').length;
  form.classList.toggle("on", count > 0);
  const place = $("[data-count]", form);
  place.textContent = place.dataset.count.replace("{n}", String(count));
}

/** The keys that the page of help lists. */
function startKeyboard() {
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (key === "Escape" && target.matches("input, select, textarea")) {
      // A browser empties a search and tells no script of it.
      event.preventDefault();
      return target.blur();
    }
    if (target.matches("input:not([type=checkbox]), select, textarea")) return;
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

/** The halves of a double tap are at most this far from one another, in time and place. */
const doubleTapMs = 500;
const doubleTapPixels = 20;

/** The second half of a double tap would press what took the place of the first: it is dropped. */
function startDoubleTaps() {
  let shownAtMs = 0;
  let tap;
  whenShown(() => (shownAtMs = performance.now()));
  // A tap behind what is typed is a new one.
  document.addEventListener("input", () => (tap = undefined));
  const drop = (event) => {
    const before = tap;
    tap = event;
    if (!before || before.timeStamp > shownAtMs) return;
    if (event.timeStamp - before.timeStamp > doubleTapMs) return;
    const distance = Math.hypot(event.x - before.x, event.y - before.y);
    if (event.detail === 0 || distance > doubleTapPixels) return;
    event.preventDefault();
    event.stopPropagation();
  };
  document.addEventListener("click", drop, true);
}

/** Buttons that copy the text of a field. */
function startCopying() {
  document.addEventListener("click", ({ target }) => {
    if (target.closest("[data-print]")) print();
    const button = target.closest("[data-copy]");
    if (button) void copy(document.getElementById(button.dataset.copy));
  });
}

async function copy(field) {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    // Plain HTTP on a private address has no clipboard of its own.
    document.execCommand("copy");
  }
  announce(document.body.dataset.copied, "good");
}

/** Fetches a page that shows work under way again and again, until it shows none. */
function startPolling() {
  let timer;
  const wait = () => {
    clearTimeout(timer);
    const running = $("[data-poll]");
    if (running) timer = setTimeout(() => void poll(running), Number(running.dataset.poll));
  };
  const poll = async (running) => {
    // Its answer would take the place of a page that is on its way.
    if (!isBusy()) {
      await visit(location.href, { push: false, part: running.isConnected ? "main" : undefined });
    }
    wait();
  };
  whenShown(wait);
}

/** Shows times as the clock of this device has them. */
function showTimes() {
  const locale = document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang;
  const zoned = new Intl.DateTimeFormat(locale, { dateStyle: "long", timeStyle: "long" });
  for (const time of document.querySelectorAll("time[data-time]")) {
    const at = new Date(time.dateTime);
    const timeStyle = time.dataset.time === "moment" ? "short" : undefined;
    time.textContent = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle }).format(
      at,
    );
    time.title = zoned.format(at);
  }
}

document.documentElement.classList.add("scripted");
startDoubleTaps();
startCopying();
startVisits();
startForms();
startAnimals();
startKeyboard();
startPolling();
whenShown(showTimes);
