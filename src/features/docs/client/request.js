const own = new URL("v1", document.baseURI);

/** Percent-encoded for any language's quotes. */
const encoded = (text) =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );

export function requestOf(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = [];
  let body;
  for (const field of form.querySelectorAll("[data-in]")) {
    const { name, value } = field;
    if (field.dataset.in === "path") path = path.replace(`{${name}}`, encoded(value));
    else if (field.dataset.in === "body") body = value;
    else if (value === "") continue;
    else if (field.dataset.in === "header") headers.push([name, value]);
    else query.set(name, value);
  }
  const base = form.querySelector(".server")?.value || own.href;
  const search = query.size === 0 ? "" : `?${query}`;
  return {
    method: form.dataset.method,
    url: `${base}${path}${search}`,
    headers,
    body,
    hasList: form.dataset.list === "true",
  };
}
