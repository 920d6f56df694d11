/** Each page works without this script. It adds what a browser does not do by itself. */
const $ = (selector, root = document) => root.querySelector(selector);
const { dataset } = document.body;
const form = $("#form");
const policy = globalThis.trustedTypes?.createPolicy("rehome", { createHTML: (text) => text });

function say(text, kind) {
  const role = kind === "bad" ? "alert" : "status";
  const parts = { className: `notice ${kind}`, role, textContent: text };
  $("#notices")?.replaceChildren(Object.assign(document.createElement("div"), parts));
}

function showTimes() {
  const locale = document.documentElement.lang.replace(/^en$/, "en-GB");
  for (const time of document.querySelectorAll("time[data-time]")) {
    const timeStyle = time.dataset.time === "moment" ? "short" : undefined;
    const moment = new Date(time.dateTime);
    time.textContent = moment.toLocaleString(locale, { dateStyle: "medium", timeStyle });
  }
}

/** Puts a part of this page as it is by now in the place of the one here. */
async function refresh(id) {
  const answer = await fetch(location.href).catch(() => undefined);
  if (!answer?.ok) return;
  const text = await answer.text();
  const page = new DOMParser().parseFromString(policy?.createHTML(text) ?? text, "text/html");
  $(`#${id}`)?.replaceWith($(`#${id}`, page) ?? "");
  showTimes();
}

/** The texts, ticks and choices of the form that a person changed: a reload gives them back. */
const fields = () =>
  [...(form?.elements ?? [])].filter(
    ({ type, name }) => /^(text|search|checkbox|select)/.test(type) || name === "page",
  );
const keyOf = ({ name, type, value }) => (type === "checkbox" ? `${name} ${value}` : name);
const stateOf = ({ type, checked, value }) => (type === "checkbox" && !checked ? "" : value);
function storedOf(field) {
  const was = form.elements[`was-${field.name}`];
  if (was || "typed" in dataset || field.name === "page") return was?.value;
  if (field.type === "checkbox") return field.defaultChecked ? field.value : "";
  if (!field.options) return field.defaultValue;
  return ([...field.options].find((each) => each.defaultSelected) ?? field.options[0])?.value;
}
const place = `typed ${dataset.page ?? location.pathname}`;
function keep() {
  const changed = fields().filter((each) => stateOf(each) !== storedOf(each));
  sessionStorage[place] = JSON.stringify(changed.map((each) => [keyOf(each), stateOf(each)]));
}
const { type } = performance.getEntriesByType("navigation")[0];
const { sent } = sessionStorage;
if (sent && sent === document.referrer && type === "navigate" && !("failed" in dataset)) {
  sessionStorage.clear();
} else if (sent || type !== "navigate") {
  const kept = new Map(JSON.parse(sessionStorage[place] ?? "[]"));
  for (const field of fields().filter((each) => kept.has(keyOf(each)))) {
    if (field.type === "checkbox") field.checked = kept.get(keyOf(field)) !== "";
    else field.value = kept.get(keyOf(field));
  }
}
// A page in another language has the address of the form that asked for it.
if (dataset.page) history.replaceState({}, "", dataset.page);
if ("typed" in dataset) keep();

/** Says that an answer is late. Until then no form is sent twice. */
let late;
function wait() {
  clearTimeout(late);
  late = setTimeout(() => {
    say(dataset.late, "bad");
    for (const each of document.forms) delete each.dataset.sent;
  }, 4_000);
}
document.addEventListener("submit", (event) => {
  const { target, submitter } = event;
  const body = `${submitter?.formAction} ${new URLSearchParams(new FormData(target, submitter))}`;
  if (target.dataset.sent === body) return event.preventDefault();
  target.dataset.sent = body;
  sessionStorage.sent = location.href;
  wait();
  if (submitter && "upload" in submitter.dataset) upload(event);
});

function upload(event) {
  event.preventDefault();
  const bar = $("progress", event.target);
  const request = new XMLHttpRequest();
  request.open("POST", event.target.action);
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    wait();
    bar.hidden = false;
    bar.value = loaded / total;
  });
  request.addEventListener("load", () => {
    if (request.status < 400) location.assign(request.responseURL);
    else event.target.submit();
  });
  request.send(new FormData(event.target));
}
let typing;
document.addEventListener("input", ({ target }) => {
  if (target.form === form) keep();
  if (target.type !== "search") return;
  clearTimeout(typing);
  typing = setTimeout(() => {
    const asked = new URLSearchParams(new FormData(target.form));
    asked.delete("back");
    history.replaceState({}, "", `?${asked}`);
    void refresh("results");
  }, 180);
});

document.addEventListener("click", ({ target, ctrlKey, metaKey }) => {
  if (target.closest("a[href]:not([download], [href^='#'])") && !ctrlKey && !metaKey) wait();
  const field = document.getElementById(target.closest("[data-copy]")?.dataset.copy);
  if (!field) return;
  field.select();
  document.execCommand("copy");
  say(dataset.copied, "good");
});

document.documentElement.classList.add("scripted");
showTimes();
for (let running; (running = $("[data-poll]")); await refresh("main")) {
  await new Promise((resolve) => setTimeout(resolve, Number(running.dataset.poll)));
}
