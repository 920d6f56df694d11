import type { Store, StoreCheck } from "../storage/contract.ts";
import { Access, AddressLimiter } from "./access.ts";
import { KeyDirectory } from "./key-directory.ts";
import { KeyIssuer, type KeyIssuerOptions } from "./keys.ts";
import { Limiter, sweepIntervalMs } from "./limiter.ts";

export interface ServiceOptions extends Omit<KeyIssuerOptions, "keys"> {
  readonly anonymousPerMinute: number;
  readonly bans: boolean;
  readonly onError: (error: unknown) => void;
  readonly onBan?: (() => void) | undefined;
}

export type Services = ReturnType<typeof createServices>;

/** What features may use of a store: they bring their own statements. */
type OpenStore = Pick<Store, "counters" | "db" | "started" | "versions">;

/** Composes the services; the one place that knows how they are put together. */
export function createServices(store: Store, options: ServiceOptions) {
  const { anonymousPerMinute, clock, environment, onError } = options;
  const limiter = new Limiter({
    windows: store.windows,
    clock,
    bans: options.bans,
    onError,
    onNoisyMinute: (...minute) =>
      void store.keys.noteMinute(...minute).then((isBan) => isBan && options.onBan?.(), onError),
  });
  const directory = new KeyDirectory({ store, limiter, environment, clock });
  const anonymous = new AddressLimiter(clock, anonymousPerMinute);
  let checking: Promise<StoreCheck[]> | undefined;
  const sweep = () => limiter.sweep(directory.accounts()).catch(onError);
  const sweeping = setInterval(() => void sweep(), sweepIntervalMs).unref();
  return {
    place: store.place,
    pets: store.pets,
    store: store as OpenStore,
    actor: options.actor,
    keys: new KeyIssuer({ ...options, keys: store.keys }),
    access: new Access({ directory, limiter, anonymous, onError }),
    clock,
    /** Whoever asks while it is under way shares it: creates queue behind one check at most. */
    check: (): Promise<StoreCheck[]> =>
      (checking ??= store.check().finally(() => (checking = undefined))),
    /** Keeps the limits tidy. Runs once a second while the services are open, and never rejects. */
    sweep,
    async close(): Promise<void> {
      clearInterval(sweeping);
      await limiter.release(directory.accounts());
      await store.close();
    },
  };
}
