/** The list of animals: search as you type, and what is done with several. */
import { $ } from "./elements.js";
import { whenShown } from "./show.js";
import { latestTurn, visit } from "./visit.js";

const searchDelayMs = 180;
let typing;

export function startAnimals() {
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
