import { choices } from "./elements.js";

/** Makes the choice of a theme work. `early.js` brings it back before the page is shown. */
export function startTheme() {
  const choice = document.getElementById("theme");
  const root = document.documentElement;
  choice.value = root.dataset.theme ?? "";
  choice.addEventListener("change", () => {
    root.dataset.theme = choice.value;
    choices.keep("localStorage", "theme", choice.value);
  });
}
