/** What the page does beyond being read: sends requests with the reader's key, and shows what came back as it came. */
const keyInput = document.getElementById("key");
const showKey = document.getElementById("show-key");
const base = new URL("v1", document.baseURI);

showKey.addEventListener("click", () => {
  const isShown = keyInput.type === "password";
  keyInput.type = isShown ? "text" : "password";
  showKey.textContent = isShown ? "Hide" : "Show";
  showKey.setAttribute("aria-pressed", String(isShown));
});
keyInput.form.addEventListener("submit", (event) => event.preventDefault());

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

const token = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*)|\b(true|false|null)\b|[{}[\],]|\s+|./gy;

/** JSON text as coloured nodes. The text is never parsed, because a double would round an int64. */
function coloured(json) {
  const nodes = [];
  for (const [text, string, colon, number, word] of json.matchAll(token)) {
    const kind = string ? (colon ? "k" : "s") : number ? "n" : word ? "w" : "";
    nodes.push(kind === "" ? text : element("span", { className: kind }, text));
  }
  return nodes;
}

/** JSON text with line breaks and indentation, its tokens as they are. */
function indented(json) {
  let depth = 0;
  let text = "";
  for (const [part, string, colon] of json.matchAll(token)) {
    if (string) text += colon ? `${string}: ` : string;
    else if (part === "{" || part === "[") text += `${part}\n${"  ".repeat(++depth)}`;
    else if (part === "}" || part === "]") text += `\n${"  ".repeat(--depth)}${part}`;
    else if (part === ",") text += `,\n${"  ".repeat(depth)}`;
    else if (part.trim() !== "") text += part;
  }
  return text.replace(/([[{])\s+([\]}])/g, "$1$2");
}

for (const block of document.querySelectorAll("pre.json")) {
  block.replaceChildren(...coloured(block.textContent));
}

/** The request that a form describes. */
function requestOf(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  let body;
  for (const field of form.querySelectorAll("[data-in]")) {
    if (field.dataset.in === "path") {
      path = path.replace(`{${field.name}}`, encodeURIComponent(field.value));
    } else if (field.dataset.in === "body") body = field.value;
    else if (field.value !== "") query.set(field.name, field.value);
  }
  const search = query.size === 0 ? "" : `?${query}`;
  return { method: form.dataset.method, url: `${base.href}${path}${search}`, body };
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** The request for a shell. The key stays in a variable, so that what is copied can be shown around. */
function curlOf({ url, body }) {
  const lines = [`curl -i ${quoted(url)}`, '-H "Authorization: Bearer $API_KEY"'];
  if (body !== undefined) {
    // `--json` would do the same, and curl before 7.82 does not know it.
    lines.push("-H 'Content-Type: application/json'", `-d ${quoted(body)}`);
  }
  return lines.join(" \\\n  ");
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium", hourCycle: "h23" });

/** The three limit headers as numbers to read, and as a bar. */
function limitsOf(headers) {
  const [limit, left, reset] = ["limit", "remaining", "reset"].map((name) =>
    headers.get(`x-ratelimit-${name}`),
  );
  if (limit === null) return [];
  const at = new Date(Number(reset) * 1000);
  const figure = (name, value, note) =>
    element(
      "div",
      {},
      element("dt", {}, name),
      element("dd", {}, value, element("small", {}, note)),
    );
  const meter = element("meter", { min: 0, max: Number(limit), value: Number(left) });
  meter.low = Number(limit) / 4;
  meter.optimum = Number(limit);
  meter.setAttribute("aria-label", `${left} of ${limit} requests left`);
  return [
    element(
      "dl",
      { className: "limits" },
      figure("X-RateLimit-Limit", limit, "requests"),
      figure("X-RateLimit-Remaining", left, "left"),
      figure("X-RateLimit-Reset", clock.format(at), reset),
    ),
    meter,
  ];
}

const shownHeaders = [
  "Retry-After",
  "Link",
  "WWW-Authenticate",
  "Deprecation",
  "Sunset",
  "Allow",
  "X-Request-Id",
];

function headersOf(headers) {
  const rows = shownHeaders
    .filter((name) => headers.has(name))
    .map((name) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, headers.get(name))),
    );
  return rows.length === 0 ? [] : [element("dl", { className: "headers" }, ...rows)];
}

/** A button that goes where the answer says the next page is. */
function nextOf(form, headers) {
  const next = /<([^>]*)>;\s*rel="next"/.exec(headers.get("link") ?? "")?.[1];
  if (next === undefined) return [];
  const button = element("button", { type: "button", className: "quiet" }, "Next page");
  button.addEventListener("click", () => {
    for (const [name, value] of new URL(next).searchParams) {
      const field = form.elements.namedItem(name);
      if (field !== null) field.value = value;
    }
    form.requestSubmit();
  });
  return [button];
}

function show(form, ...nodes) {
  const result = form.querySelector(".result");
  result.replaceChildren(...nodes);
  result.hidden = false;
}

async function send(form) {
  const { method, url, body } = requestOf(form);
  const headers = {};
  const key = keyInput.value.trim();
  if (key !== "") headers.Authorization = `Bearer ${key}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const startMs = performance.now();
  let answer;
  let text;
  try {
    answer = await fetch(url, { method, headers, body, cache: "no-store", credentials: "omit" });
    text = await answer.text();
  } catch (error) {
    const why = error instanceof TypeError ? "The service could not be reached" : String(error);
    show(form, element("p", { className: "failure" }, `${why}: ${error.message}`));
    return;
  }
  const tookMs = Math.round(performance.now() - startMs);
  const isJson = (answer.headers.get("content-type") ?? "").startsWith("application/json");
  const output = element("pre", { className: "json", tabIndex: 0 });
  output.append(...(isJson ? coloured(indented(text)) : [text]));
  show(
    form,
    element(
      "p",
      { className: "outcome" },
      element(
        "span",
        { className: `status s${String(answer.status)[0]}` },
        `${answer.status} ${answer.statusText}`.trim(),
      ),
      element("small", {}, `${tookMs} ms`),
    ),
    ...limitsOf(answer.headers),
    ...headersOf(answer.headers),
    output,
    ...nextOf(form, answer.headers),
  );
}

for (const form of document.querySelectorAll("form.try")) {
  const curl = form.querySelector(".curl");
  const refresh = () => {
    curl.textContent = curlOf(requestOf(form));
  };
  refresh();
  form.addEventListener("input", refresh);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    refresh();
    const button = form.querySelector("button[type=submit]");
    button.disabled = true;
    void send(form).finally(() => {
      button.disabled = false;
    });
  });
  const copy = form.querySelector("[data-copy]");
  copy.addEventListener("click", () => void copyText(curl, copy));
}

/** Copies the text of `from`, or selects it where the browser does not let a page copy. */
async function copyText(from, button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(from.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(from);
    button.textContent = "Selected";
  }
  setTimeout(() => {
    button.textContent = label;
  }, 1500);
}

const links = new Map(
  [...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]),
);
const watcher = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      const link = links.get(target.id);
      if (isIntersecting) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  },
  { rootMargin: "-20% 0px -70% 0px" },
);
for (const id of links.keys()) watcher.observe(document.getElementById(id));
