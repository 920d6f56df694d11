import { trusted, type Html } from "../../docs/html.ts";

/** Strokes on a grid of 24, drawn for this console. */
const strokes = {
  paw: '<path d="M12 13c2.4 0 4.6 2.8 4.6 4.6 0 1.4-1.1 1.9-2.2 1.9-.9 0-1.6-.4-2.4-.4s-1.5.4-2.4.4c-1.1 0-2.2-.5-2.2-1.9C7.4 15.8 9.6 13 12 13Z"/><ellipse cx="6.2" cy="11.8" rx="1.4" ry="1.9"/><ellipse cx="9.8" cy="7.8" rx="1.4" ry="2"/><ellipse cx="14.2" cy="7.8" rx="1.4" ry="2"/><ellipse cx="17.8" cy="11.8" rx="1.4" ry="1.9"/>',
  inbox: '<path d="M12 4v9m0 0 3.5-3.5M12 13 8.5 9.5M4.5 14v4a2 2 0 0 0 2 2h11a2 2 0 0 0 2-2v-4"/>',
  tag: '<path d="M4 11.5V5a1 1 0 0 1 1-1h6.5a2 2 0 0 1 1.4.6l6.5 6.5a2 2 0 0 1 0 2.8l-5.5 5.5a2 2 0 0 1-2.8 0L4.6 12.9A2 2 0 0 1 4 11.5Z"/><circle cx="8.5" cy="8.5" r="1.2"/>',
  key: '<circle cx="8" cy="15.5" r="4"/><path d="m11 12.5 8-8m-3.5 3.5 3 3M13.5 10l1.8 1.8"/>',
  chart: '<path d="M4 20h16M7 16.5v-5M12 16.5v-10M17 16.5v-7"/>',
  pulse: '<path d="M3.5 12.5h4l2.5-7 4 13 2.5-6h4"/>',
  people:
    '<circle cx="9" cy="8.5" r="3.2"/><path d="M3 19.5c.4-3.3 2.8-5.5 6-5.5s5.6 2.2 6 5.5M15.5 5.6a3.2 3.2 0 0 1 0 5.8M17.5 14.4c2 .8 3.2 2.6 3.5 5.1"/>',
  search: '<circle cx="11" cy="11" r="6"/><path d="m15.5 15.5 4.5 4.5"/>',
} as const;
export type IconName = keyof typeof strokes;

/** An icon beside its word; a screen reader passes over it. */
export function icon(name: IconName): Html {
  return trusted(
    `<svg class="icon" viewBox="0 0 24 24" width="24" height="24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${strokes[name]}</svg>`,
  );
}
