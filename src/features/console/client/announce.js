import { $, parse } from "./elements.js";

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
