import { announce } from "./announce.js";
import { whenShown } from "./show.js";

/** The halves of a double tap are at most this far from one another, in time and place. */
const doubleTapMs = 500;
const doubleTapPixels = 20;

/** The second half of a double tap would press what took the place of the first: it is dropped. */
export function startDoubleTaps() {
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
export function startCopying() {
  document.addEventListener("click", ({ target }) => {
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
