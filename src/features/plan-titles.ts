import { planNames, type PlanName } from "../domain/plan.ts";

/** The names of the plans as people read them, in every language. */
export const planTitles = Object.fromEntries(
  planNames.map((name) => [name, name.charAt(0).toUpperCase() + name.slice(1)]),
) as Readonly<Record<PlanName, string>>;
