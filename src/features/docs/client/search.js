import { announce, element } from "./elements.js";

const resultsMax = 8;
const input = document.getElementById("search");
const list = document.getElementById("found");

/** Every part of the page with an address. The text of a nested part belongs to that alone. */
function partsOf() {
  const targets = [...document.querySelectorAll("main [id]")].filter((part) =>
    part.matches("section, article, details, .fields > div"),
  );
  return targets.map((part) => {
    const heading = part.querySelector("h2, h3, summary, dt code");
    const title = heading.textContent.replace(/\s+/g, " ").trim();
    const outer = part.parentElement.closest("section[id]");
    const where = outer?.querySelector("h2, h3").textContent.trim() ?? "";
    const texts = [
      ...part.querySelectorAll("p, li, td, th, dt, dd, summary, h4, label, figcaption"),
    ]
      .filter((each) => each.closest("[id]:is(section, article, details)") === part)
      .map((each) => each.textContent);
    const words = `${part.dataset.words ?? ""} ${texts.join(" ")}`;
    return { id: part.id, title, where, name: title.toLowerCase(), words: words.toLowerCase() };
  });
}

/** The parts that have every word of `query`, those first that have them in their titles. */
function find(parts, query) {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return [];
  const score = ({ name, words }) => {
    let sum = 0;
    for (const word of wanted) {
      if (name.startsWith(word)) sum += 4;
      else if (name.includes(word)) sum += 3;
      else if (words.includes(word)) sum += 1;
      else return 0;
    }
    return sum;
  };
  return parts
    .map((part) => ({ part, score: score(part) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, resultsMax)
    .map(({ part }) => part);
}

function show(found) {
  const isAsking = input.value.trim() !== "";
  const links = found.map(({ id, title, where }) =>
    element(
      "li",
      {},
      element("a", { href: `#${id}` }, element("span", {}, title), element("small", {}, where)),
    ),
  );
  const nothing = element("li", { className: "soft" }, "Nothing found");
  list.replaceChildren(...(links.length > 0 ? links : [nothing]));
  list.hidden = !isAsking;
  if (isAsking) announce(found.length === 1 ? "1 result" : `${found.length} results`);
}

function close() {
  list.hidden = true;
}

/** Goes to the result before or after the focused one. Before the first one is the field. */
function move(event, step) {
  const places = [input, ...list.querySelectorAll("a")];
  const at = places.indexOf(document.activeElement);
  event.preventDefault();
  places[(at + step + places.length) % places.length].focus();
}

export function startSearch() {
  let parts;
  input.addEventListener("input", () => {
    parts ??= partsOf();
    show(find(parts, input.value));
  });
  input.form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  input.form.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") move(event, 1);
    if (event.key === "ArrowUp") move(event, -1);
    if (event.key !== "Escape") return;
    close();
    input.focus();
  });
  input.form.addEventListener("focusout", ({ relatedTarget }) => {
    if (!input.form.contains(relatedTarget)) close();
  });
  list.addEventListener("click", ({ target }) => {
    const link = target.closest("a");
    if (link === null) return;
    close();
  });
  addEventListener("keydown", (event) => {
    // Caps Lock makes it a K.
    if (event.key.toLowerCase() !== "k" || event.shiftKey) return;
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}
