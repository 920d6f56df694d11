import {
  $,
  announce,
  announceFailure,
  announceLate,
  latestTurn,
  newTurn,
  show,
  visit,
  whenLate,
} from "./page.js";

let lost = 0;
let sending = Promise.resolve();
let uploading;

/** Sends forms in place. */
export function startForms() {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    event.preventDefault();
    if (form.enctype === "multipart/form-data") return upload(form);
    const fields = new URLSearchParams(new FormData(form, event.submitter));
    if (form.method === "post") return sendForm(form, fields);
    const address = `${form.action}?${fields}`;
    void visit(address, { leave: () => (location.href = address) });
  });
  // What is typed now was not sent.
  document.addEventListener("input", ({ target }) => delete target.form?.dataset.sent);
  startDropping();
}

/** Sends forms one after the other, and nothing twice. */
function sendForm(form, fields) {
  if (form.dataset.sending === String(fields)) return;
  form.dataset.sending = fields;
  form.dataset.sent = "yes";
  sending = sendBehind(sending, form, fields);
}

/**
 * Once a form is lost, those behind it are not sent. One whose answer is late may be sent again,
 * and what is pressed from then on does not wait for it.
 */
async function sendBehind(before, form, body) {
  const turn = newTurn();
  const lostBefore = lost;
  await before;
  const late = () => {
    delete form.dataset.sending;
    sending = Promise.resolve();
  };
  if (lost === lostBefore) {
    const hasCome = await visit(form.action, { init: { method: "POST", body }, turn, late });
    if (!hasCome) lost += 1;
  }
  if (form.dataset.sending === String(body)) delete form.dataset.sending;
  if (lost !== lostBefore) delete form.dataset.sent;
}

/** A file is sent with its progress in sight. Who went elsewhere meanwhile stays there. */
function upload(form) {
  if (form.dataset.sending) return;
  uploading?.abort();
  form.dataset.sending = "yes";
  const turn = newTurn();
  const bar = $("progress", form);
  if (bar) bar.hidden = false;
  // Only this tells how much was sent.
  const request = new XMLHttpRequest();
  uploading = request;
  let timer;
  const wait = () => {
    clearTimeout(timer);
    timer = whenLate(() => {
      delete form.dataset.sending;
      announceLate();
    });
  };
  wait();
  request.open("POST", form.action);
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    wait();
    if (bar) bar.value = total > 0 ? loaded / total : 0;
  });
  request.addEventListener("load", () => {
    const { status, responseText, responseURL } = request;
    if (status >= 429) announceFailure(responseText);
    else if (turn === latestTurn()) show(responseText, responseURL, { push: true });
  });
  request.addEventListener("error", () => announce());
  request.addEventListener("loadend", () => {
    clearTimeout(timer);
    delete form.dataset.sending;
    if (bar) bar.hidden = true;
  });
  request.send(new FormData(form));
}

/** A file that is dropped on the page is the file of its form. */
function startDropping() {
  for (const name of ["dragover", "drop"]) {
    document.addEventListener(name, (event) => {
      const field = $('input[type="file"]');
      if (!field || !event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      $(".drop")?.classList.toggle("over", name === "dragover");
      if (name === "drop") field.files = event.dataTransfer.files;
    });
  }
}
