/** The page's script: sends requests with the reader's key, and shows their responses. */
import { laidOut, sampleOf } from "./samples.ts";

const root = document.documentElement;
const forms = [...document.querySelectorAll("form.try")];
const keyInput = document.getElementById("key");
const saidForMs = 1_500;

/** A new element with properties and children. */
function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** Says something to a reader who does not see it. */
const announce = (text) => (document.getElementById("announcement").textContent = text);

/* The key, as it is sent: `Bearer ` and space around it are no part of it. */

function currentKey() {
  return keyInput.value
    .trim()
    .replace(/^["']|["']$/g, "")
    .replace(/^(?:authorization:\s*)?bearer\s+/i, "")
    .trim();
}

function startKey() {
  const show = document.getElementById("show-key");
  show.addEventListener("click", () => {
    const isShown = keyInput.type === "password";
    keyInput.type = isShown ? "text" : "password";
    show.textContent = isShown ? "Hide" : "Show";
    show.setAttribute("aria-pressed", String(isShown));
  });
  keyInput.addEventListener("input", () => {
    const key = currentKey();
    // A space at the end may be one that somebody is typing.
    if (key !== keyInput.value.trim()) keyInput.value = key;
    root.classList.toggle("has-key", key !== "");
  });
  keyInput.form.addEventListener("submit", (event) => event.preventDefault());
}

/* A form's request, and its code */

const own = new URL("v1", document.baseURI);

/** Writes the address where the page is read in place of the one that stands for it. */
function startAddresses() {
  for (const block of document.querySelectorAll(".intro code, .command pre")) {
    block.textContent = block.textContent.replaceAll("http://HOST/v1", own.href);
  }
}

/** Percent-encoded for any language's quotes. */
function encoded(text) {
  const escape = (character) => `%${character.charCodeAt(0).toString(16)}`;
  return encodeURIComponent(text).replace(/[!'()*]/g, escape);
}

function requestOf(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = [];
  let body;
  for (const { dataset, name, value } of form.querySelectorAll("[data-in]")) {
    if (dataset.in === "path") path = path.replace(`{${name}}`, encoded(value));
    else if (dataset.in === "body") body = value;
    else if (value === "") continue;
    else if (dataset.in === "header") headers.push([name, value]);
    else query.set(name, value);
  }
  const base = form.querySelector(".server")?.value || own.href;
  const url = `${base}${path}${query.size === 0 ? "" : `?${query}`}`;
  return { method: form.dataset.method, url, headers, body, hasList: form.dataset.list === "true" };
}

function refreshCode(form) {
  const request = requestOf(form);
  for (const block of form.querySelectorAll("[data-language]")) {
    block.textContent = sampleOf(block.dataset.language, request);
  }
}

/** Shows all code in the language that was chosen last. */
function startLanguages() {
  const radios = [...document.querySelectorAll(".languages input")];
  for (const radio of radios) {
    radio.addEventListener("change", () => {
      for (const other of radios) other.checked = other.value === radio.value;
    });
  }
}

/** Keeps the server that was chosen the same in all forms. */
function startServers() {
  const selects = [...document.querySelectorAll(".server")];
  for (const select of selects) {
    select.addEventListener("change", () => {
      for (const other of selects) other.value = select.value;
      forms.forEach(refreshCode);
    });
  }
}

/* Sending it, and the response */

/** Makes a form send its request, one at a time. */
function startForm(form) {
  const button = form.querySelector("button[type=submit]");
  refreshCode(form);
  form.addEventListener("input", () => refreshCode(form));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    // The button is not disabled: the focus would be lost.
    if (button.ariaBusy === "true") return;
    button.ariaBusy = "true";
    void send(form).finally(() => (button.ariaBusy = null));
  });
}

async function send(form) {
  const { method, url, headers: more, body } = requestOf(form);
  const key = currentKey();
  // Fetch, section 2.2.2: a header holds bytes, and the browser throws for any other character.
  if ([key, ...more.map(([, value]) => value)].some((text) => /[^\0-\xff]/.test(text))) {
    showFailure(
      form,
      "The API key and the headers can have Latin letters and ASCII characters only.",
    );
    return;
  }
  const headers = new Headers(more);
  if (key !== "") headers.set("Authorization", `Bearer ${key}`);
  if (body !== undefined) headers.set("Content-Type", "application/json");
  const startMs = performance.now();
  let response;
  let text;
  try {
    const options = { method, headers, body, cache: "no-store", credentials: "omit" };
    response = await fetch(url, options);
    text = await response.text();
  } catch (error) {
    showFailure(form, whyNot(url, error));
    return;
  }
  showResponse(form, response, text, Math.round(performance.now() - startMs));
}

function whyNot(url, error) {
  const { origin } = new URL(url);
  if (!(error instanceof TypeError)) return String(error);
  if (origin === location.origin) return `The service could not be reached: ${error.message}`;
  return `${origin} could not be reached, or does not allow this page: its operator can allow it with --cors-origin ${location.origin}`;
}

const shownHeaders =
  "X-RateLimit-Limit X-RateLimit-Remaining X-RateLimit-Reset Retry-After Link Location WWW-Authenticate Deprecation Sunset Allow Idempotent-Replayed X-Request-Id";
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium", hourCycle: "h23" });

function headersOf(headers) {
  const rows = shownHeaders
    .split(" ")
    .filter((name) => headers.has(name))
    .map((name) => {
      const value = headers.get(name);
      const isReset = name === "X-RateLimit-Reset";
      const time = isReset ? ` (${clock.format(new Date(Number(value) * 1000))})` : "";
      return element("div", {}, element("dt", {}, name), element("dd", {}, value + time));
    });
  return element("dl", { className: "headers" }, ...rows);
}

/** A button that goes where the response says the next page is. */
function nextOf(form, headers) {
  const next = /<([^>]*)>;\s*rel="next"/.exec(headers.get("link") ?? "")?.[1];
  if (next === undefined) return [];
  const button = element("button", { type: "button", className: "quiet small" }, "Next page");
  button.addEventListener("click", () => {
    for (const [name, value] of new URL(next).searchParams) {
      const field = form.elements.namedItem(name);
      if (field !== null) field.value = value;
    }
    form.requestSubmit();
  });
  return [button];
}

/** Shows the response where the example was: status and body first, then what else it says. */
function showResponse(form, response, text, tookMs) {
  const { headers, status, statusText } = response;
  const body = element("pre", {}, readable(text));
  const words = `${status} ${statusText}`.trim();
  const outcome = element(
    "p",
    { className: "outcome" },
    element("strong", { className: `status s${String(status)[0]}` }, words),
    element("small", {}, `${tookMs} ms`),
    ...nextOf(form, headers),
    element("button", { type: "button", className: "quiet small copy" }, "Copy"),
  );
  show(form, outcome, body, headersOf(headers));
  // A list that is longer than the screen scrolls by itself, and so it takes the focus.
  if (body.scrollHeight > body.clientHeight) {
    Object.assign(body, { tabIndex: 0, role: "region", ariaLabel: "Body of the response" });
  }
  const left = headers.get("x-ratelimit-remaining");
  announce(left === null ? words : `${words}, ${left} requests left`);
}

/** JSON laid out, and anything else as it came. */
function readable(text) {
  try {
    return laidOut(text);
  } catch {
    return text;
  }
}

function showFailure(form, why) {
  show(form, element("p", { className: "failure" }, why));
  announce(why);
}

function show(form, ...nodes) {
  const result = form.querySelector(".result");
  result.replaceChildren(...nodes);
  // All of it, or its beginning where there is no room for all.
  result.scrollIntoView({ block: "nearest", behavior: "instant" });
  nodes[0].scrollIntoView({ block: "nearest", behavior: "instant" });
}

/* Copying, and responses with an address of their own */

function startCopying() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.copy");
    if (button !== null) void copyText(button);
  });
}

/** Copies the text beside a button, or selects it where the browser does not let a page copy. */
async function copyText(button) {
  const all = [...button.closest(".command, .result, .code").querySelectorAll("pre")];
  const from = all.find((each) => each.checkVisibility());
  let said = "Copied";
  try {
    await navigator.clipboard.writeText(from.textContent);
  } catch {
    getSelection().selectAllChildren(from);
    said = "Selected";
  }
  button.textContent = said;
  announce(said);
  setTimeout(() => (button.textContent = "Copy"), saidForMs);
}

function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (!(target instanceof HTMLDetailsElement)) return;
  target.open = true;
  target.scrollIntoView({ behavior: "instant" });
}

forms.forEach(startForm);
startKey();
startAddresses();
startLanguages();
startServers();
startCopying();
addEventListener("hashchange", openTarget);
openTarget();
