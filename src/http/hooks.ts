import type { AnyElysia } from "elysia";

/**
 * A hook that answers at once. Elysia tells from a function's text whether to wait for it, takes every `return f()` for a
 * yes, and each wait costs a request another turn of the microtask queue.
 */
export function atOnce<Hook extends (...parameters: never[]) => unknown>(fn: Hook): Hook {
  return { fn, isAsync: false } as unknown as Hook;
}

/** `plugin`, whose derived properties are there at once. */
export function derivesAtOnce<Plugin extends AnyElysia>(plugin: Plugin): Plugin {
  for (const hook of plugin.event.transform ?? []) hook.isAsync = false;
  return plugin;
}
