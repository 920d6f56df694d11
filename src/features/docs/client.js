/** The page's script: sends requests with the reader's key, and shows their responses. */
import { laidOut, sampleOf } from "./samples.ts";

const forms = [...document.querySelectorAll("form.try")];
const saidForMs = 1_500;

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

const announce = (text) => (document.getElementById("announcement").textContent = text);

/** The key as it is sent: `Bearer ` and what else people copy around it are no part of it. */
function currentKey() {
  return document
    .getElementById("key")
    .value.trim()
    .replace(/^["']|["']$/g, "")
    .replace(/^(?:authorization:\s*)?bearer\s+/i, "")
    .trim();
}

/* A form's request, and its code */

const own = new URL("v1", document.baseURI);

/** Writes the address where the page is read in place of the one that stands for it. */
function startAddresses() {
  for (const block of document.querySelectorAll(".intro code, .command pre")) {
    block.textContent = block.textContent.replaceAll("http://HOST/v1", own.href);
  }
}

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
  const url = `${own.href}${path}${query.size === 0 ? "" : `?${query}`}`;
  return { method: form.dataset.method, url, headers, body, hasList: form.dataset.list === "true" };
}

function refreshCode(form) {
  const request = requestOf(form);
  for (const block of form.querySelectorAll("[data-language]")) {
    block.textContent = sampleOf(block.dataset.language, request);
  }
}

function choose({ target }) {
  if (target.type !== "radio") return;
  for (const other of document.querySelectorAll(".languages input")) {
    other.checked = other.value === target.value;
  }
}

/* Sending it, and the response */

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

const notBytes = "The API key and the headers can have Latin letters and ASCII characters only.";

async function send(form) {
  const { method, url, headers, body } = requestOf(form);
  const key = currentKey();
  if (key !== "") headers.push(["Authorization", `Bearer ${key}`]);
  if (body !== undefined) headers.push(["Content-Type", "application/json"]);
  const options = { method, headers, body, cache: "no-store", credentials: "omit" };
  const startMs = performance.now();
  let response;
  let text;
  try {
    // Fetch, section 2.2.2: a header holds bytes, and the browser throws for any other character.
    if (/[^\0-\xff]/.test(headers.flat().join(""))) throw new Error(notBytes);
    response = await fetch(url, options);
    text = await response.text();
  } catch (error) {
    const why =
      error instanceof TypeError
        ? `The service could not be reached: ${error.message}`
        : error.message;
    show(form, element("p", { className: "failure" }, why));
    return announce(why);
  }
  showResponse(form, response, text, Math.round(performance.now() - startMs));
}

const shownHeaders =
  "X-RateLimit-Limit X-RateLimit-Remaining X-RateLimit-Reset Retry-After Link Location WWW-Authenticate Deprecation Sunset Allow Idempotent-Replayed X-Request-Id";
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium", hourCycle: "h23" });

function headersOf(headers) {
  const lines = shownHeaders
    .split(" ")
    .filter((name) => headers.has(name))
    .map((name) => {
      const value = headers.get(name);
      const isReset = name === "X-RateLimit-Reset";
      return `${name}: ${value}${isReset ? ` (${clock.format(Number(value) * 1000)})` : ""}`;
    });
  return element("p", { className: "headers" }, lines.join("\n"));
}

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

function readable(text) {
  try {
    return laidOut(text);
  } catch {
    return text;
  }
}

function show(form, ...nodes) {
  const result = form.querySelector(".result");
  result.replaceChildren(...nodes);
  // All of it, or its beginning where there is no room for all.
  result.scrollIntoView({ block: "nearest", behavior: "instant" });
  nodes[0].scrollIntoView({ block: "nearest", behavior: "instant" });
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

forms.forEach(startForm);
startAddresses();
document.addEventListener("change", choose);
document.addEventListener("click", (event) => {
  const button = event.target.closest("button.copy");
  if (button !== null) void copyText(button);
});
