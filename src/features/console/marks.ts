/** The sections of the menu where somebody has to look at something. */
import type { Services } from "../../service/services.ts";
import { jobsOf } from "../schedule/jobs.ts";
import { isStale, stateOf } from "../sources/store.ts";
import type { Health } from "./pages/health.ts";
import type { Section } from "./pages/page.ts";
import type { SourceActions } from "./pages/sources.ts";
import type { Actions } from "./visit.ts";

const troubles: ReadonlySet<string> = new Set(["failing", "held", "partial"]);

export function marksOf(
  { store: { db }, clock }: Services,
  { sources, health }: { readonly sources: SourceActions; readonly health: Health },
): Actions["marks"] {
  return async ({ role }) => {
    const marks = new Set<Section>();
    const lists = await sources.list();
    const isWrong = lists.some((each) => troubles.has(stateOf(each)) || isStale(each, clock()));
    if (isWrong) marks.add("import");
    if (role !== "operator") return marks;
    const backups = (await jobsOf(db)).filter(({ kind }) => kind === "backup");
    const hasFailed = backups.some(({ failures, problem }) => failures > 0 || problem !== null);
    if (hasFailed || health.hasTrouble()) marks.add("health");
    return marks;
  };
}
