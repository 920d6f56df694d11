/** A key as one object: its settings, and the windows that each admitted request charges. */
import { minutesOf, reservationOf } from "./history.ts";
import type { Call, Command, Happening, KeySettings, Limits, Request } from "./history.ts";
import type { Model } from "./linearize.ts";

/** Seconds of the windows: a minute and a day. */
const lengths = [60, 86_400] as const;

export interface KeyState {
  /** Several while servers learn of a change, each of them at its own moment. */
  readonly settings: readonly KeySettings[];
  /** When the stored windows end, in seconds. */
  readonly ends: readonly number[];
  /** Requests charged, by the window and its end. */
  readonly used: Readonly<Record<string, number>>;
  /** What the last answer showed, while one connection alone uses the key. */
  readonly last?: { readonly window: string; readonly remaining: number } | undefined;
}

export function unusedKey(limits: Limits): KeyState {
  const settings = [{ ...limits, readOnly: false, isRevoked: false }];
  return { settings, ends: [0, 0], used: {} };
}

/** A call, or the beginning or the end of a change that servers learn of one by one. */
export interface KeyCall {
  readonly call: Call;
  readonly part?: "begins" | "ends";
}

interface KeyModelOptions {
  /** Requests that other processes may have taken ahead, or killed ones have lost. */
  readonly elsewhere: number;
  /** How far a server's idea of the store's clock may be from this machine's clock. */
  readonly toleranceMs: number;
  /** When a second connection first uses the key. */
  readonly sharedMs: number;
}

const promised: readonly unknown[] = [200, 201, 400, 401, 403, 404, 429, 503, undefined];

export function keyModel(options: KeyModelOptions): Model<KeyState, KeyCall> {
  const { elsewhere, toleranceMs, sharedMs } = options;
  /** One process alone counts: then every number is exact. */
  const isExact = elsewhere === 0;

  const happened = (state: KeyState, { what }: Happening) => {
    if (what !== "kill" || !isExact) return [state];
    const most = Math.max(...state.settings.map(reservationOf));
    return Array.from({ length: most + 1 }, (_, lost) => charged(state, lost));
  };

  const answered = (state: KeyState, settings: KeySettings, request: Request): KeyState[] => {
    const { answer, asked, returnMs } = request;
    const { status, limit, resetSeconds, remaining = 0 } = answer ?? {};
    if (!promised.includes(status)) return [];
    if (status === 401 || settings.isRevoked)
      return status === 401 && settings.isRevoked ? [state] : [];
    const isUnseen = answer === undefined || status === 503;
    const isLimited = status === 429;
    const isForbidden = asked.do === "create" && settings.readOnly;
    if (!isUnseen && !isLimited && (status === 403) !== isForbidden) return [];
    const isAlone = returnMs < sharedMs && !isUnseen && !isLimited;
    const last = isAlone ? { window: `${limit} until ${resetSeconds}`, remaining } : state.last;
    const isSame = isAlone && state.last?.window === last?.window;
    if (isSame && state.last?.remaining !== remaining + 1) return [];
    return minutesOf(request, toleranceMs).flatMap((minute) => {
      const now = isExact ? rolled(state, minute) : { ...state, ends: endsOf(minute) };
      const next = isLimited ? now : { ...charged(now, 1), last };
      const windows = windowsOf(next, settings);
      if (!isLimited && windows.some(({ left }) => left < 0)) return [];
      if (!isUnseen && !isShown(windows, request)) return [];
      // A store keeps that its windows moved on when it charges, and else perhaps.
      if (isExact) return isLimited ? [state, next] : [next];
      return isLimited ? [state] : [{ ...next, ends: [0, 0] }];
    });
  };

  /** True if the headers show a window that has so many left, or may with what is elsewhere. */
  const isShown = (windows: ReturnType<typeof windowsOf>, { answer, returnWallMs }: Request) => {
    const [minute = 0, day = 0] = windows.map(({ left }) => Math.max(0, left));
    // The window with the fewest requests left, at a tie the day.
    const possible = isExact ? windows.slice(minute < day ? 0 : 1).slice(0, 1) : windows;
    return possible.some(({ limit, left, resetSeconds }) => {
      if (answer?.limit !== limit || answer.resetSeconds !== resetSeconds) return false;
      const { status, remaining, retryAfterSeconds = 0 } = answer;
      if (status !== 429)
        return remaining <= (isExact ? left : limit - 1) && remaining >= left - elsewhere;
      const latestMs = returnWallMs + toleranceMs;
      const isLate = latestMs + retryAfterSeconds * 1_000 >= resetSeconds * 1_000;
      return remaining === 0 && left <= elsewhere && isLate;
    });
  };

  return {
    isRead({ call }) {
      if (call.kind !== "request") return false;
      const status = call.answer?.status;
      return status === 401 || (status === 429 && !isExact);
    },
    key: (state) => JSON.stringify(state),
    step(state, { call, part }) {
      if (call.kind === "request")
        return state.settings.flatMap((settings) => answered(state, settings, call));
      const others = { ...state, last: undefined };
      if (call.kind === "happening") return happened(others, call);
      return call.exitCode === 0 ? [commanded(others, call, part)] : [];
    },
  };
}

function commanded(state: KeyState, { order }: Command, part: KeyCall["part"]): KeyState {
  const { settings } = state;
  if (part === "ends") return { ...state, settings: settings.slice(settings.length / 2) };
  const set = settings.map((each) => ({ ...each, ...("set" in order && order.set) }));
  return { ...state, settings: part === "begins" ? [...settings, ...set] : set };
}

/** When the windows end that a minute is in. */
const endsOf = (minute: number) =>
  lengths.map((seconds) => Math.ceil(((minute + 1) * 60) / seconds) * seconds);

const usedIn = ({ ends, used }: KeyState, at: number) => used[`${at} ${ends[at]}`] ?? 0;

/** The windows in a minute of the clock: one that is ahead of it by one stays. */
function rolled(state: KeyState, minute: number): KeyState {
  const ends = endsOf(minute).map((end, at) =>
    state.ends[at] === end + (lengths[at] ?? 0) ? state.ends[at] : end,
  );
  // One that is moved back keeps its count.
  const used = ends.map((end, at) => {
    return [`${at} ${end}`, end > (state.ends[at] ?? 0) ? 0 : usedIn(state, at)] as const;
  });
  return { ...state, ends, used: Object.fromEntries(used) };
}

function charged(state: KeyState, count: number): KeyState {
  const more = state.ends.map((end, at) => [`${at} ${end}`, usedIn(state, at) + count] as const);
  return { ...state, used: { ...state.used, ...Object.fromEntries(more) } };
}

function windowsOf(state: KeyState, { perMinute, perDay }: Limits) {
  return [perMinute, perDay].map((limit, at) => {
    return { limit, left: limit - usedIn(state, at), resetSeconds: state.ends[at] ?? 0 };
  });
}
