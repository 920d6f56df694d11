/** A new element with properties and children. */
export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** Calls `work` for each element when it is about to be seen: the page starts sooner. */
export function whenSeen(elements, work) {
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        watcher.unobserve(target);
        work(target);
      }
    },
    { rootMargin: "50% 0px" },
  );
  for (const each of elements) watcher.observe(each);
}

/** Says something to a reader who does not see it. */
export function announce(text) {
  document.getElementById("announcement").textContent = text;
}

/** Reads or stores a choice in `storage`, which a browser may deny to a page. */
export const choices = {
  read(storage, name) {
    try {
      return globalThis[storage].getItem(name);
    } catch {
      return null;
    }
  },
  keep(storage, name, value) {
    try {
      globalThis[storage].setItem(name, value);
    } catch {
      // It holds until the page is left.
    }
  },
};
