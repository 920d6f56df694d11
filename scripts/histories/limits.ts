/** A key as one object: its settings, and the windows that each admitted request charges. */
import type { Call, Command, Limits, Request } from "./history.ts";
import type { Model } from "./linearize.ts";

const minuteSeconds = 60;
const daySeconds = 86_400;

interface Settings extends Limits {
  readonly readOnly: boolean;
  readonly isRevoked: boolean;
}

export interface KeyState {
  /** Several while servers learn of a change, each of them at its own moment. */
  readonly settings: readonly Settings[];
  /** When the windows end that the store keeps, in seconds. */
  readonly minuteEnd: number;
  readonly dayEnd: number;
  /** Requests charged, by the window and its end. */
  readonly used: Readonly<Record<string, number>>;
  readonly backups: ReadonlyMap<string, readonly Settings[]>;
}

export function unusedKey(limits: Limits): KeyState {
  const settings = [{ ...limits, readOnly: false, isRevoked: false }];
  return { settings, minuteEnd: 0, dayEnd: 0, used: {}, backups: new Map() };
}

/** What a process takes ahead: one second of the limits. */
export function reservationOf({ perMinute, perDay }: Limits): number {
  return Math.ceil(Math.min(perMinute, perDay) / 60);
}

/** A call, or the beginning or the end of a change that servers learn of one by one. */
export interface KeyCall {
  readonly call: Call;
  readonly part?: "begins" | "ends";
}

export interface KeyModelOptions {
  /** Requests that other processes may have taken ahead, or killed ones have lost. */
  readonly elsewhere: number;
  /** True if one process alone counts: then every number is exact. */
  readonly isExact: boolean;
  /** How far a server's idea of the store's clock may be from this machine's clock. */
  readonly toleranceMs: number;
}

export class KeyModel implements Model<KeyState, KeyCall> {
  readonly #options: KeyModelOptions;

  constructor(options: KeyModelOptions) {
    this.#options = options;
  }

  isRead({ call }: KeyCall): boolean {
    if (call.kind !== "request") return false;
    const status = call.answer?.status;
    return status === 401 || (status === 429 && !this.#options.isExact);
  }

  key({ backups, ...others }: KeyState): string {
    return JSON.stringify([others, ...backups]);
  }

  step(state: KeyState, { call, part }: KeyCall): readonly KeyState[] {
    if (call.kind === "command") return call.exitCode === 0 ? [commanded(state, call, part)] : [];
    if (call.kind === "request") {
      return state.settings.flatMap((settings) => this.#answered(state, settings, call));
    }
    if (call.what === "clock") {
      // Windows may have been looked at before the clock was set.
      const [beforeMs] = call.offsetsMs ?? [0];
      return [state, rolled(state, Math.floor((call.wallMs + beforeMs) / 60_000))];
    }
    if (call.what !== "kill" || !this.#options.isExact) return [state];
    const most = Math.max(...state.settings.map(reservationOf));
    return Array.from({ length: most + 1 }, (_, lost) => charged(state, lost));
  }

  #answered(state: KeyState, settings: Settings, request: Request): readonly KeyState[] {
    const { answer, asked } = request;
    const { isExact, toleranceMs } = this.#options;
    if (answer?.status === 401) return settings.isRevoked ? [state] : [];
    if (settings.isRevoked) return [];
    const isForbidden = asked.do === "create" && settings.readOnly;
    if (answer !== undefined && answer.status < 429 && (answer.status === 403) !== isForbidden)
      return [];
    const isLimited = answer?.status === 429;
    return minutesOf(request, toleranceMs).flatMap((minute) => {
      const now = isExact ? rolled(state, minute) : { ...state, ...endsOf(minute) };
      const next = isLimited ? now : charged(now, 1);
      const windows = windowsOf(next, settings);
      if (!isLimited && windows.some(({ left }) => left < 0)) return [];
      const isTold =
        answer === undefined || answer.status === 503 || isShown(windows, request, this.#options);
      if (!isTold) return [];
      // A store keeps that its windows moved on when it charges, and else perhaps.
      if (isExact) return isLimited ? [state, next] : [next];
      return isLimited ? [state] : [{ ...next, minuteEnd: 0, dayEnd: 0 }];
    });
  }
}

function commanded(state: KeyState, { order }: Command, part: KeyCall["part"]): KeyState {
  const { settings, backups } = state;
  if (part === "ends") return { ...state, settings: settings.slice(settings.length / 2) };
  if (order.do === "backup") {
    return { ...state, backups: new Map(backups).set(order.file, settings) };
  }
  if (order.do === "restore backup") {
    // Who was revoked since stays so.
    const isRevoked = settings.some((each) => each.isRevoked);
    const kept = backups.get(order.file) ?? settings;
    return { ...state, settings: isRevoked ? kept.map((each) => ({ ...each, isRevoked })) : kept };
  }
  const set = settings.map((each) => ({
    ...each,
    ...(order.do === "limits" && order.limits),
    ...(order.do === "access" && { readOnly: order.readOnly }),
    ...(order.do === "revoke" && { isRevoked: true }),
  }));
  return { ...state, settings: part === "begins" ? [...settings, ...set] : set };
}

/** The minutes in which a server may have decided on a request. */
function minutesOf(request: Request, toleranceMs: number): readonly number[] {
  const { callWallMs, returnWallMs, offsetsMs } = request;
  const all = offsetsMs.flatMap((offsetMs) => {
    const first = Math.floor((callWallMs + offsetMs - toleranceMs) / 60_000);
    const last = Math.floor((returnWallMs + offsetMs + toleranceMs) / 60_000);
    return Array.from({ length: last - first + 1 }, (_, at) => first + at);
  });
  return [...new Set(all)];
}

function endsOf(minute: number) {
  const minuteEnd = (minute + 1) * minuteSeconds;
  return { minuteEnd, dayEnd: Math.ceil(minuteEnd / daySeconds) * daySeconds };
}

const windowKeys = ({ minuteEnd, dayEnd }: Pick<KeyState, "minuteEnd" | "dayEnd">) =>
  [`minute ${minuteEnd}`, `day ${dayEnd}`] as const;

/** Both windows in a minute of the clock: one that is ahead of it by one stays. */
function rolled(state: KeyState, minute: number): KeyState {
  const now = endsOf(minute);
  const stays = (end: number, nowEnd: number, seconds: number) =>
    end === nowEnd + seconds ? end : nowEnd;
  const minuteEnd = stays(state.minuteEnd, now.minuteEnd, minuteSeconds);
  const dayEnd = stays(state.dayEnd, now.dayEnd, daySeconds);
  const [minuteKey, dayKey] = windowKeys({ minuteEnd, dayEnd });
  const [minuteBefore, dayBefore] = windowKeys(state).map((key) => state.used[key] ?? 0);
  // One that is moved back keeps its count.
  const used = {
    [minuteKey]: minuteEnd > state.minuteEnd ? 0 : (minuteBefore ?? 0),
    [dayKey]: dayEnd > state.dayEnd ? 0 : (dayBefore ?? 0),
  };
  return { ...state, minuteEnd, dayEnd, used };
}

function charged(state: KeyState, count: number): KeyState {
  const more = windowKeys(state).map((key) => [key, (state.used[key] ?? 0) + count] as const);
  return { ...state, used: { ...state.used, ...Object.fromEntries(more) } };
}

interface Window {
  readonly limit: number;
  readonly left: number;
  readonly resetSeconds: number;
}

function windowsOf(state: KeyState, { perMinute, perDay }: Limits): readonly [Window, Window] {
  const [minuteUsed = 0, dayUsed = 0] = windowKeys(state).map((key) => state.used[key] ?? 0);
  return [
    { limit: perMinute, left: perMinute - minuteUsed, resetSeconds: state.minuteEnd },
    { limit: perDay, left: perDay - dayUsed, resetSeconds: state.dayEnd },
  ];
}

/** True if the headers show a window that has, or with what is elsewhere may have, so many left. */
function isShown(
  windows: readonly [Window, Window],
  request: Request,
  { elsewhere, isExact, toleranceMs }: KeyModelOptions,
): boolean {
  const { answer } = request;
  const [minute, day] = windows;
  // The window with the fewest requests left, at a tie the day.
  const fewest = Math.max(0, minute.left) < Math.max(0, day.left) ? minute : day;
  return (isExact ? [fewest] : windows).some(({ limit, left, resetSeconds }) => {
    if (answer?.limit !== limit || answer.resetSeconds !== resetSeconds) return false;
    if (answer.status === 429) {
      const waitMs = (answer.retryAfterSeconds ?? 0) * 1_000;
      const latestMs = request.returnWallMs + Math.max(...request.offsetsMs) + toleranceMs;
      const isLate = latestMs + waitMs >= resetSeconds * 1_000;
      return answer.remaining === 0 && left <= elsewhere && isLate;
    }
    const most = isExact ? left : limit - 1;
    return answer.remaining <= most && answer.remaining >= left - elsewhere;
  });
}

/** The first answer that does not show one less, while one connection alone uses the key. */
export function notByOne(calls: readonly Call[]): Request | undefined {
  let last: Request | undefined;
  for (const call of calls) {
    if (call.kind !== "request") {
      if (call.kind === "happening" || "key" in call.order) last = undefined;
      continue;
    }
    const { answer, connection, returnMs } = call;
    const isElse = (other: Call) =>
      other.kind === "request" && other.connection !== connection && other.callMs <= returnMs;
    if (calls.some(isElse)) return undefined;
    if (answer === undefined || answer.status === 401 || answer.status >= 429) continue;
    const before = last?.answer;
    const isSame = before?.limit === answer.limit && before.resetSeconds === answer.resetSeconds;
    if (isSame && before.remaining - 1 !== answer.remaining) return call;
    last = call;
  }
  return undefined;
}
