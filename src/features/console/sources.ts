/** Followed lists, as the pages show and steer them. */
import { runJob } from "../child.ts";
import type { EnvironmentVariables } from "../../config.ts";
import type { Services } from "../../service/services.ts";
import { finishJob, pauseJob } from "../jobs.ts";
import { heldMark, withdrawHeld } from "../sources/pull.ts";
import {
  claimPull,
  findFollowed,
  type Followed,
  followed,
  pullJob,
  resumeList,
} from "../sources/store.ts";
import type { ChangeMade } from "./animals.ts";
import { refuseRemoved } from "./people.ts";

export type { Followed };
export { heldMark };
export { isSourceName, isStale, stateOf } from "../sources/store.ts";

export type SourceActions = ReturnType<typeof sourceActions>;

/** `env` names the store to the process that pulls. */
export function sourceActions({ store: { db }, clock }: Services, env: EnvironmentVariables) {
  const pulls = new Map<string, Promise<void>>();
  const start = async (name: string) => {
    try {
      const triedAtMs = await claimPull(db, name, clock());
      const problem = await runJob(["sources", "pull", "--scheduled", "--", name], env);
      // Otherwise its process has stored how it ended.
      if (problem === undefined) return;
      const outcome = { ok: false, problem: { text: problem } } as const;
      await db.transaction((tx) =>
        finishJob(tx, pullJob(name), outcome, clock(), 0, { triedAtMs }),
      );
    } finally {
      pulls.delete(name);
    }
  };
  return {
    list: () => followed(db),
    isPulling: (name: string) => pulls.has(name),
    /** Fetches and imports a list; resolves when that is done. */
    async pull(name: string): Promise<void> {
      await findFollowed(db, name);
      const pulling = pulls.get(name) ?? start(name);
      if (!pulls.has(name)) pulls.set(name, pulling);
      await pulling;
    },
    async pause(name: string, isPaused: boolean): Promise<void> {
      await findFollowed(db, name);
      await db.transaction<unknown>((tx) =>
        isPaused ? pauseJob(tx, pullJob(name), "person", clock()) : resumeList(tx, name, clock()),
      );
    },
    /** Withdraws the animals that wait for it and were `shown`; nobody if these are others now. */
    async withdraw(name: string, shown: string, actor: string): Promise<ChangeMade> {
      let changeId: bigint | undefined;
      const onChange = (change: bigint) => void (changeId = change);
      const allows = (tx: Parameters<typeof refuseRemoved>[0]) => refuseRemoved(tx, actor);
      await withdrawHeld({ db, clock, actor, onChange, allows }, name, shown);
      return { changeId };
    },
  };
}
