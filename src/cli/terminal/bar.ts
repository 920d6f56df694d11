const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"] as const;

/** A bar of `cells` cells, filled for `share` (0 to 1) in eighths of a cell; something is never shown as nothing. */
export function bar(share: number, cells: number): string {
  const bounded = Math.min(1, Math.max(0, share));
  const filled = bounded > 0 ? Math.max(1, Math.floor(bounded * cells * 8)) : 0;
  const text = "█".repeat(Math.floor(filled / 8)) + (eighths[filled % 8] ?? "");
  return text + "░".repeat(cells - text.length);
}

/** `share` in whole percent, rounded down so that 100 % means all of it. */
export function percent(share: number): string {
  return `${Math.floor(Math.max(0, share) * 100)}%`;
}
