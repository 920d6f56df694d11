import { whenSeen } from "./elements.js";
import { showAnswer, showFailure } from "./answer.js";
import { refreshCode } from "./code.js";
import { currentKey } from "./key.js";
import { requestOf } from "./request.js";

const unsendable = "The API key and the headers can have Latin letters and ASCII characters only.";

async function send(form) {
  const { method, url, headers: more, body } = requestOf(form);
  const key = currentKey();
  // Fetch, section 2.2.2: a header holds bytes, and the browser throws for any other character.
  if ([key, ...more.map(([, value]) => value)].some((text) => /[^\0-\xff]/.test(text))) {
    showFailure(form, unsendable);
    return;
  }
  const headers = new Headers(more);
  if (key !== "") headers.set("Authorization", `Bearer ${key}`);
  if (body !== undefined) headers.set("Content-Type", "application/json");
  const startMs = performance.now();
  try {
    const answer = await fetch(url, {
      method,
      headers,
      body,
      cache: "no-store",
      credentials: "omit",
    });
    const text = await answer.text();
    showAnswer(form, answer, text, Math.round(performance.now() - startMs));
  } catch (error) {
    showFailure(form, whyNot(url, error));
  }
}

function whyNot(url, error) {
  const { origin } = new URL(url);
  if (!(error instanceof TypeError)) return String(error);
  if (origin === location.origin) return `The service could not be reached: ${error.message}`;
  return `${origin} could not be reached, or does not allow this page: its operator can allow it with --cors-origin ${location.origin}`;
}

/** Makes a form send its request, one at a time. */
export function startForm(form) {
  const button = form.querySelector("button[type=submit]");
  let isSending = false;
  whenSeen([form], refreshCode);
  form.addEventListener("input", () => refreshCode(form));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    // The button is not disabled: the focus would be lost.
    if (isSending) return;
    isSending = true;
    button.setAttribute("aria-busy", "true");
    refreshCode(form);
    void send(form).finally(() => {
      isSending = false;
      button.removeAttribute("aria-busy");
    });
  });
}

/** Keeps the server that was chosen the same in all forms. */
export function startServers() {
  const selects = [...document.querySelectorAll(".server")];
  for (const select of selects) {
    select.addEventListener("change", () => {
      for (const other of selects) other.value = select.value;
      for (const form of document.querySelectorAll("form.try")) refreshCode(form);
    });
  }
}
