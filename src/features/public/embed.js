/* Lists a shelter's animals where this script stands, or in the element that data-list names. */
(() => {
  const words = {
    en: {
      none: "No animals right now.",
      failed: "The list of animals could not be loaded.",
      pending: "adoption pending",
      unnamed: "Unnamed",
    },
    es: {
      none: "Ahora mismo no hay animales.",
      failed: "No se ha podido cargar la lista de animales.",
      pending: "adopción en trámite",
      unnamed: "Sin nombre",
    },
  };
  const say = words[document.documentElement.lang.slice(0, 2)] ?? words.en;
  const isOurs = (script) => /\/animals\.js(\?|$)/.test(script.src) && !script.dataset.started;

  async function show(script) {
    if (script.dataset.started) return;
    script.dataset.started = "true";
    const { list: selector, category = "", max = "5000" } = script.dataset;
    const place = selector ? document.querySelector(selector) : undefined;
    /* Items stand in a list only. */
    const isList = place?.matches("ul, ol");
    const list = isList ? place : document.createElement("ul");
    list.setAttribute("role", "list");
    const note = (text, why) => {
      if (why) console.error(`rehome: ${text} ${why}`);
      const line = document.createElement("p");
      line.textContent = text;
      line.setAttribute("role", "status");
      (list.isConnected ? list : (place ?? script)).after(line);
    };
    if (place === null) return note(say.failed, `No element matches data-list="${selector}".`);
    try {
      const items = [];
      const wanted = category.toLowerCase();
      const response = await fetch(new URL("animals.json", script.src));
      if (!response.ok) throw new Error(`The service returned ${response.status}.`);
      for (const { name, status, category: of } of (await response.json()).animals) {
        if (wanted && wanted !== String(of.id) && wanted !== of.name?.toLowerCase()) continue;
        const item = document.createElement("li");
        /* A name brings no HTML. */
        const text = document.createElement("bdi");
        text.textContent = /^\s*(Unnamed)?$/.test(name) ? say.unnamed : name;
        item.append(text);
        if (status === "pending") item.append(` (${say.pending})`);
        item.dataset.status = status;
        items.push(item);
      }
      list.replaceChildren(...items.slice(0, Number(max)));
      if (!isList && place) place.replaceChildren(list);
      else if (!isList) script.after(list);
      if (items.length === 0) note(say.none);
    } catch (error) {
      note(say.failed, `${error.message} (${new URL("animals.json", script.src)})`);
    }
  }

  const start = () => {
    const own = document.currentScript;
    /* A module has no current script. */
    for (const script of own ? [own] : document.querySelectorAll("script[src]")) {
      if (!isOurs(script)) continue;
      if (document.readyState !== "loading") void show(script);
      else addEventListener("DOMContentLoaded", () => void show(script));
    }
  };
  start();
})();
