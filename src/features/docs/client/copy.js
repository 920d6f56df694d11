import { announce } from "./elements.js";

const shownForMs = 1_500;

/** Makes each button `copy` copy the text next to it, and each anchor its address. */
export function startCopying() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.copy");
    if (button !== null) void copyText(textFor(button), button);
    const anchor = event.target.closest("a.anchor");
    // The link is followed as well: the address is then in the address bar too.
    if (anchor !== null) void copyAddress(anchor);
  });
}

/** What a button copies: the text beside it that is shown. */
function textFor(button) {
  const all = [...button.closest(".command, .result, .code").querySelectorAll("pre")];
  return all.find((each) => each.checkVisibility());
}

/** Copies the text of `from`, or selects it where the browser does not let a page copy. */
async function copyText(from, button) {
  let said = "Copied";
  try {
    await navigator.clipboard.writeText(from.textContent);
  } catch {
    getSelection().selectAllChildren(from);
    said = "Selected";
  }
  button.textContent = said;
  announce(said);
  setTimeout(() => (button.textContent = "Copy"), shownForMs);
}

async function copyAddress(anchor) {
  try {
    await navigator.clipboard.writeText(anchor.href);
  } catch {
    // The address bar has it.
    return;
  }
  anchor.dataset.said = "copied";
  announce("Address copied");
  setTimeout(() => delete anchor.dataset.said, shownForMs);
}
