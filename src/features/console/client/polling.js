import { $ } from "./elements.js";
import { whenShown } from "./show.js";
import { isBusy, visit } from "./visit.js";

/** Fetches a page that shows work under way again and again, until it shows none. */
export function startPolling() {
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
