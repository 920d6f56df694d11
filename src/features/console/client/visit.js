import { announce, announceFailure } from "./announce.js";
import { show } from "./show.js";

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
