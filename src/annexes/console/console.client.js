/**
 * The console works without this script. With it, forms are sent and pages are fetched in place.
 * What is typed stays when the service cannot be reached, and the focus stays where it was.
 */
const policy = globalThis.trustedTypes?.createPolicy("rehome", { createHTML: (text) => text });
const parse = (text) =>
  new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "text/html");
const $ = (selector, root = document) => root.querySelector(selector);
document.documentElement.classList.add("scripted");

/** Says something where a screen reader hears it. */
function announce(text = document.body.dataset.lost, kind = "bad") {
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
const hush = () => $("#announcement")?.remove();
/** What the page of a failure says. */
const failureOf = (text) => $("main h1 ~ *", parse(text))?.textContent;
let shownAt = 0;

/** Puts a fetched page in the place of this one: only what differs from page to page. */
function show(page, address, { push, part }) {
  shownAt = performance.now();
  const focused = document.activeElement;
  const { top } = focused.getBoundingClientRect();
  if (push && address !== location.href) {
    // So that Back leads to where somebody was on this page.
    history.replaceState({ top: scrollY }, "");
    history.pushState({}, "", address);
  }
  // What somebody types and ticks stays, unless it was sent.
  const typed = "form:not([data-sent]) :is(input:not([type=file]), select)[id]";
  const ticked = "body:not(:has(#several[data-sent])) .animals :checked";
  const kept = document.querySelectorAll(`${typed}, ${ticked}`);
  const target = part && $(`#${part}`);
  const source = part && $(`#${part}`, page);
  if (target && source) {
    target.replaceWith(source);
    if (part === "results") $("#q").defaultValue = $("#q", page).value;
  } else {
    document.title = page.title;
    document.documentElement.lang = page.documentElement.lang;
    Object.assign(document.body.dataset, page.body.dataset);
    document.body.replaceChildren(...page.body.childNodes);
  }
  for (const each of kept) {
    const { id, form, value, checked, defaultValue = $("[selected]", each)?.value } = each;
    const field = $(`:is([action="${form?.getAttribute("action")}"], .animals) #${id}`);
    if (field && value.trim() !== defaultValue) field.value = value;
    if (field && checked) field.checked = true;
  }
  if (part) return;
  const asking = $("#q");
  if (asking && asking.value.trim() !== asking.defaultValue) search(asking.form);
  const same = focused.id && document.getElementById(focused.id);
  const wanted = $("[autofocus]") ?? same;
  const hash = location.hash && document.getElementById(location.hash.slice(1));
  if (wanted) wanted.focus({ preventScroll: !wanted.matches("[autofocus]") });
  else $("main")?.focus({ preventScroll: true });
  // A notice above it moves nothing away from the pointer.
  const moved = same && same === wanted && same.getBoundingClientRect().top - top;
  if (moved) scrollBy({ top: moved, behavior: "instant" });
  if (hash) hash.scrollIntoView();
  else if (push && (!wanted || wanted.matches("main"))) scrollTo(0, 0);
  ready();
}

let latest = 0;
let lost = 0;
let underWay = 0;
let sending = Promise.resolve();
let typing;

/** Fetches an address and shows what came. Whatever is not a page is left to the browser. */
async function visit(address, { init, push = true, part, leave, turn = (latest += 1) } = {}) {
  clearTimeout(typing);
  underWay += 1;
  document.body.setAttribute("aria-busy", "true");
  const lose = (why) => {
    if (init) lost += 1;
    if (init || turn === latest) announce(why);
  };
  try {
    const answer = await fetch(address, { credentials: "same-origin", ...init });
    // What was typed stays, also where a proxy says that the service is away.
    if (answer.status >= 429) return lose(failureOf(await answer.text()));
    if (!answer.headers.get("content-type")?.startsWith("text/html")) return leave?.();
    const text = await answer.text();
    // A refused form comes back also to who went on meanwhile: it has what they typed.
    if (init && !answer.ok) turn = latest += 1;
    if (turn !== latest) return;
    hush();
    show(parse(text), answer.url, { push, part });
  } catch {
    lose();
  } finally {
    underWay -= 1;
    if (underWay === 0) document.body.removeAttribute("aria-busy");
  }
}

/** Shows the page that Back or Forward leads to, where somebody was on it. */
addEventListener("popstate", ({ state }) => {
  const scroll = () => state && scrollTo({ top: state.top, behavior: "instant" });
  void visit(location.href, { push: false }).then(scroll);
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.enctype === "multipart/form-data") return upload(event, form);
  event.preventDefault();
  const fields = new URLSearchParams(new FormData(form, event.submitter));
  if (form.method === "post") return sendForm(form, fields);
  const address = `${form.action}?${fields}`;
  void visit(address, { leave: () => (location.href = address) });
});

/** Sends forms one after the other, and nothing twice. Once one is lost, those behind it wait. */
function sendForm(form, fields) {
  if (form.dataset.sending === String(fields)) return;
  form.dataset.sending = fields;
  form.dataset.sent = "yes";
  const turn = (latest += 1);
  const lostBefore = lost;
  sending = sending
    .then(
      () =>
        lost === lostBefore && visit(form.action, { init: { method: "POST", body: fields }, turn }),
    )
    .finally(() => {
      delete form.dataset.sending;
      if (lost !== lostBefore) delete form.dataset.sent;
    });
}

/** A file is sent with its progress in sight. Who went elsewhere meanwhile stays there. */
function upload(event, form) {
  event.preventDefault();
  if (form.dataset.sending) return;
  form.dataset.sending = "yes";
  const turn = (latest += 1);
  const bar = $("progress", form);
  if (bar) bar.hidden = false;
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    if (bar) bar.value = total > 0 ? loaded / total : 0;
  });
  const end = () => {
    delete form.dataset.sending;
    if (bar) bar.hidden = true;
  };
  request.addEventListener("load", () => {
    end();
    if (request.status >= 429) return announce(failureOf(request.responseText));
    if (turn !== latest) return;
    hush();
    show(parse(request.responseText), request.responseURL, { push: true });
  });
  request.addEventListener("error", () => {
    end();
    announce();
  });
  request.send(new FormData(form));
}

let tap;
/** Search as you type. */
document.addEventListener("input", ({ target }) => {
  const form = target.form;
  // What is typed now was not sent, and a tap behind it is a new one.
  delete form?.dataset.sent;
  tap = undefined;
  if (form?.dataset.live && target.type === "search") search(form);
});

function search(form) {
  clearTimeout(typing);
  typing = setTimeout(() => {
    const address = `${form.action}?${new URLSearchParams(new FormData(form))}`;
    history.replaceState({}, "", address);
    void visit(address, { push: false, part: form.dataset.live }).then(ready);
  }, 180);
}

/** The second half of a double tap would press what took the place of the first. */
document.addEventListener(
  "click",
  (event) => {
    const before = tap;
    tap = event;
    if (!before || before.timeStamp > shownAt || event.timeStamp - before.timeStamp > 500) return;
    const distance = Math.hypot(event.x - before.x, event.y - before.y);
    if (event.detail === 0 || distance > 20) return;
    event.preventDefault();
    event.stopPropagation();
  },
  true,
);

document.addEventListener("click", (event) => {
  const { target } = event;
  const copied = target.closest("[data-copy]");
  if (copied) return void copy(copied);
  const link = target.closest("a[href]");
  const isPlain = !["ctrlKey", "metaKey", "shiftKey", "altKey", "button"].some((key) => event[key]);
  if (!link || !isPlain || link.origin !== location.origin || link.hasAttribute("download")) return;
  if (link.hash && link.pathname === location.pathname) return;
  event.preventDefault();
  void visit(link.href, { leave: () => (location.href = link.href) });
});

async function copy(button) {
  const field = document.getElementById(button.dataset.copy);
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    // Plain HTTP on a private address has no clipboard of its own.
    document.execCommand("copy");
  }
  announce(document.body.dataset.copied, "good");
}

document.addEventListener("change", countChosen);

/** Says how many animals are chosen, and shows what can be done with them. */
function countChosen() {
  const form = $("#several");
  if (!form) return;
  const count = document.querySelectorAll('input[form="several"]:checked').length;
  form.classList.toggle("on", count > 0);
  const place = $("[data-count]", form);
  place.textContent = place.dataset.count.replace("{n}", String(count));
}

const paths = { a: "/animals", i: "/import", c: "/categories" };
let wentBy = 0;
document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (key === "Escape" && target.matches("input, select, textarea")) {
    // A browser empties a search and tells no script of it.
    event.preventDefault();
    return target.blur();
  }
  if (target.matches("input:not([type=checkbox]), select, textarea")) return;
  const isGoing = performance.now() - wentBy < 1000;
  if (key === "g") return void (wentBy = performance.now());
  wentBy = 0;
  if (isGoing && paths[key]) return void visit(paths[key]);
  if (key === "n") {
    event.preventDefault();
    const field = () => $('[action="/animals"] #name');
    if (field()) field().focus();
    else void visit("/animals/new").then(() => field()?.focus());
  }
  const shortcut = /^[/?]$/.test(key) && $(`[data-key="${key}"]`);
  if (!shortcut) return;
  event.preventDefault();
  shortcut.focus();
  shortcut.click();
});

/** A file that is dropped on the page is the file of its form. */
for (const name of ["dragover", "drop"]) {
  document.addEventListener(name, (event) => {
    const field = $('input[type="file"]');
    if (!field || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    $(".drop")?.classList.toggle("over", name === "dragover");
    if (name === "drop") field.files = event.dataTransfer.files;
  });
}

let polling;
/** What a page needs once it is there. */
function ready() {
  countChosen();
  clearTimeout(polling);
  const running = $("[data-poll]");
  if (running) {
    const poll = async () => {
      // Its answer would take the place of a page that is on its way.
      if (underWay === 0) {
        await visit(location.href, { push: false, part: running.isConnected ? "main" : undefined });
      }
      ready();
    };
    polling = setTimeout(() => void poll(), Number(running.dataset.poll));
  }
}
ready();
