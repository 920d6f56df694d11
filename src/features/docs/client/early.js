/** Runs in the head, before anything is shown. `live` marks what works only with a script. */
const root = document.documentElement;
root.classList.add("live");
try {
  root.dataset.theme = localStorage.getItem("theme") ?? "";
} catch {
  // A browser may keep its storage from a page: the theme is then the system's.
}
