import type { Io } from "../cli/io.ts";
import { grouped, printable } from "../cli/terminal/text.ts";

/** How often the line is drawn again. */
const redrawMs = 100;
const barCells = 20;
/** A rate means something only after so long. */
const rateAfterMs = 500;

/** Where a long piece of work stands. */
export interface Progress {
  readonly label: string;
  /** Counted in `unit`, and what the rate is of. */
  readonly done: number;
  readonly unit: string;
  /** From 0 to 1, or undefined if the total is unknown. */
  readonly fraction: number | undefined;
}

/** A line on standard error that is drawn again and again; nothing without a terminal. */
export class ProgressLine {
  readonly #io: Io;
  readonly #nowMs: () => number;
  #label = "";
  #startMs = 0;
  #drawnMs = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  constructor(io: Io, nowMs: () => number) {
    this.#io = io;
    this.#nowMs = nowMs;
  }

  show(progress: Progress): void {
    if (!this.#io.talkIsTerminal) return;
    const nowMs = this.#nowMs();
    if (progress.label !== this.#label) {
      this.#label = progress.label;
      this.#startMs = nowMs;
    }
    if (nowMs - this.#drawnMs < redrawMs) return;
    this.#drawnMs = nowMs;
    this.#isDrawn = true;
    this.#io.draw(`\r\u001B[K${progressText(progress, nowMs - this.#startMs)}`);
  }

  /** Takes the line away, so that what follows stands in its place. */
  clear(): void {
    if (this.#isDrawn) this.#io.draw("\r\u001B[K");
    this.#isDrawn = false;
  }
}

/** `Reading  [#####---------------]  25 %  120,000 records  240,000/s  2 s left` */
export function progressText(progress: Progress, elapsedMs: number): string {
  const { label, done, unit, fraction } = progress;
  const parts = [printable(label)];
  if (fraction !== undefined) {
    const full = Math.floor(Math.min(fraction, 1) * barCells);
    parts.push(`[${"#".repeat(full)}${"-".repeat(barCells - full)}]`);
    parts.push(`${String(Math.floor(Math.min(fraction, 1) * 100)).padStart(3)} %`);
  }
  parts.push(`${grouped(done)} ${unit}`);
  if (elapsedMs >= rateAfterMs) {
    parts.push(`${grouped(Math.round((done / elapsedMs) * 1_000))}/s`);
    if (fraction !== undefined && fraction > 0) {
      const leftMs = (elapsedMs / Math.min(fraction, 1)) * (1 - Math.min(fraction, 1));
      parts.push(`${timeText(leftMs)} left`);
    }
  }
  return parts.join("  ");
}

function timeText(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
