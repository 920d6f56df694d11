/* Lists a shelter's animals where this script stands, or in the element that data-list names. */
(() => {
  const words = {
    en: {
      none: "No animals right now.",
      failed: "The list of animals could not be loaded.",
      pending: "adoption pending",
    },
    es: {
      none: "Ahora mismo no hay animales.",
      failed: "No se ha podido cargar la lista de animales.",
      pending: "adopción en trámite",
    },
  };
  const say = words[document.documentElement.lang.slice(0, 2)] ?? words.en;
  const isOurs = (script) => /\/animals\.js(\?|$)/.test(script.src) && !script.dataset.started;

  async function show(script) {
    /* Another tag of this script may have done it meanwhile. */
    if (script.dataset.started) return;
    script.dataset.started = "true";
    const { list: selector, category = "", max = "5000" } = script.dataset;
    const list = selector ? document.querySelector(selector) : document.createElement("ul");
    const note = (text, why) => {
      if (why) console.error(`rehome: ${text} ${why}`);
      const line = document.createElement("p");
      line.textContent = text;
      line.setAttribute("role", "status");
      (list?.isConnected ? list : script).after(line);
    };
    if (!list) return note(say.failed, `No element matches data-list="${selector}".`);
    if (!selector) script.after(list);
    try {
      const items = [];
      const wanted = category.toLowerCase();
      let next = "animals.json";
      while (next && items.length < Number(max)) {
        const response = await fetch(new URL(next, script.src));
        if (!response.ok) throw new Error(`The service returned ${response.status}.`);
        const page = await response.json();
        for (const { name, status, category: of } of page.animals) {
          if (wanted && wanted !== String(of.id) && wanted !== of.name?.toLowerCase()) continue;
          const item = document.createElement("li");
          /* As text: a name cannot put HTML into the page. */
          item.textContent = status === "pending" ? `${name} (${say.pending})` : name;
          item.dataset.status = status;
          items.push(item);
        }
        next = page.next;
      }
      list.replaceChildren(...items.slice(0, Number(max)));
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
