import { languages, sampleOf } from "../samples/sample.ts";
import { choices } from "./elements.js";
import { requestOf } from "./request.js";

const kept = "language";

/** Writes the form's request in each language. */
export function refreshCode(form) {
  const request = requestOf(form);
  for (const block of form.querySelectorAll("[data-language]")) {
    block.textContent = sampleOf(block.dataset.language, request);
  }
}

/** Keeps all the page's code in the language that was chosen last, for the visit. */
export function startCode() {
  const radios = [...document.querySelectorAll(".languages input")];
  const choose = (language) => {
    for (const radio of radios) radio.checked = radio.value === language;
  };
  const before = choices.read("sessionStorage", kept);
  if (languages.some(({ id }) => id === before)) choose(before);
  for (const radio of radios) {
    radio.addEventListener("change", () => {
      const topBefore = radio.getBoundingClientRect().top;
      choose(radio.value);
      choices.keep("sessionStorage", kept, radio.value);
      // What stands above has another height now: the reader's place stays where it is.
      scrollBy({ top: radio.getBoundingClientRect().top - topBefore, behavior: "instant" });
    });
  }
}
