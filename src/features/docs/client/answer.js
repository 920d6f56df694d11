import { laidOut } from "../json-text.ts";
import { announce, element } from "./elements.js";
import { coloured } from "./json.js";

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
  "Idempotent-Replayed",
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

/** Shows the answer where the example was: status and body first, then what else it says. */
export function showAnswer(form, answer, text, tookMs) {
  const isJson = (answer.headers.get("content-type") ?? "").startsWith("application/json");
  const body = element(
    "pre",
    { className: "json" },
    ...(isJson ? coloured(laidOut(text)) : [text]),
  );
  const words = `${answer.status} ${answer.statusText}`.trim();
  const copy = element("button", { type: "button", className: "quiet copy" }, "Copy");
  const status = element("strong", { className: `status s${String(answer.status)[0]}` }, words);
  const next = nextOf(form, answer.headers);
  show(
    form,
    element(
      "p",
      { className: "outcome" },
      status,
      element("small", {}, `${tookMs} ms`),
      ...next,
      copy,
    ),
    body,
    ...limitsOf(answer.headers),
    ...headersOf(answer.headers),
  );
  // A list that is longer than the screen scrolls by itself, and so it takes the focus.
  if (body.scrollHeight > body.clientHeight) {
    Object.assign(body, { tabIndex: 0, role: "region", ariaLabel: "Body of the response" });
  }
  const left = answer.headers.get("x-ratelimit-remaining");
  announce(left === null ? words : `${words}, ${left} requests left`);
}

/** Shows why there is no answer. */
export function showFailure(form, why) {
  show(form, element("p", { className: "failure" }, why));
  announce(why);
}

function show(form, ...nodes) {
  const result = form.querySelector(".result");
  result.replaceChildren(...nodes);
  bringIntoView(result);
}

/** Scrolls until the whole answer is seen, or as much of it as there is room for. */
function bringIntoView(result) {
  const upperEdge = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop);
  const room = innerHeight - upperEdge;
  const { top, bottom: end } = result.getBoundingClientRect();
  const body = result.querySelector("pre") ?? result;
  const bottom = end - top <= room ? end : body.getBoundingClientRect().bottom;
  if (top >= upperEdge && bottom <= innerHeight) return;
  const isBelow = top >= upperEdge && bottom - top <= room;
  scrollBy({ top: isBelow ? bottom - innerHeight : top - upperEdge, behavior: "instant" });
}
