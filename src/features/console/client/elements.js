export const $ = (selector, root = document) => root.querySelector(selector);

const policy = globalThis.trustedTypes?.createPolicy("rehome", { createHTML: (text) => text });

/** The document of a page of this server. */
export const parse = (text) =>
  new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "text/html");
