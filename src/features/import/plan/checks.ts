/** Why a list is refused as a whole: what it would change is not what its source means. */
import { and, count, eq } from "drizzle-orm";
import { AppError } from "../../../domain/errors.ts";
import type { Tx } from "../../../storage/database.ts";
import type { Prepared, Reading } from "../understand/propose.ts";
import type { ImportOptions } from "./options.ts";
import type { Plan } from "./plan.ts";

/** The source of which the input is the whole list. Throws AppError if it is not known. */
export function completeSource(
  { source }: Reading,
  { complete }: ImportOptions,
): string | undefined {
  if (complete !== true) return undefined;
  if (source !== "") return source;
  throw new AppError("invalid_request", "--complete needs the source of this list.", {
    hint: "Name the source with --source.",
  });
}

interface Checked {
  readonly plan: Plan;
  readonly prepared: Prepared;
  readonly options: ImportOptions;
  /** How many animals of a whole list's source are here. */
  readonly sourceAnimals: number;
  readonly rejected: number;
}

const refused = (text: string, hint: string, code?: string) =>
  new AppError("invalid_request", `${text} Nothing was changed.`, {
    hint,
    ...(code !== undefined && { code }),
  });

export async function refusalOf(tx: Tx, checked: Checked): Promise<AppError | undefined> {
  return otherList(checked) ?? notWhole(checked) ?? (await unexplained(tx, checked));
}

/** The same ids with other names are those of another list, where nobody said whose they are. */
function otherList({ plan }: Checked): AppError | undefined {
  const { matched, renamed, example } = plan.identity;
  if (plan.memory.list.source !== "" || plan.memory.list.isDesk || 2 * renamed <= matched)
    return undefined;
  return refused(
    `This seems to be another list: ${renamed} of the ${matched} animals with the same ids have other names here, such as ${example}.`,
    "Name the source of this list with --source, such as --source cats.",
    "otherList",
  );
}

/**
 * Why the animals that a whole list lacks are not withdrawn: the list says itself that it is not
 * whole, records of them may only be bad, or have lost their ids, or they are more than half of
 * all and the options do not allow that.
 */
function notWhole({ plan, prepared, options, sourceAnimals, rejected }: Checked) {
  const { missing } = plan.counts;
  const { input, reading, understanding } = prepared;
  if (missing === 0) return undefined;
  const which = `${missing} of the ${sourceAnimals} animals of ${reading.source} are not in it`;
  if (input.partial !== undefined) {
    return refused(
      `This list says that it is not whole (${input.partial}), and ${which}.`,
      "Import all of its pages in one list, or leave out --complete.",
    );
  }
  if (rejected > 0 && options.withdraws === undefined) {
    return refused(
      `A whole list must not have bad records, and this one has ${rejected}: their animals would be withdrawn.`,
      "See them with --dry-run and fix them, or import without --complete.",
    );
  }
  const damaged = understanding.notes.find(({ said }) => said.code === "idsDamaged");
  if (damaged !== undefined) {
    return refused(
      `A whole list must not have damaged ids, and this one has ${damaged.records}: their animals would be withdrawn.`,
      "Export the list again without a spreadsheet, or import without --complete.",
    );
  }
  if (2 * missing <= sourceAnimals || options.confirmed === true || options.withdraws) {
    return undefined;
  }
  return refused(
    `${missing} of the ${sourceAnimals} animals of ${reading.source} are not in this list.`,
    "See whether the list is whole, and add --yes to withdraw them.",
    "mostMissing",
  );
}

const wordsShown = 5;

/** A list whose new words would hide more than half of the available is the source's mistake. */
async function unexplained(tx: Tx, { plan, prepared }: Checked): Promise<AppError | undefined> {
  const { waiting } = plan.counts;
  if (waiting === 0) return undefined;
  const { pets } = tx.t;
  const own = and(eq(pets.source, plan.memory.list.source), eq(pets.status, "available"));
  const [row] = await tx.select({ animals: count() }).from(pets).where(own);
  const available = row?.animals ?? 0;
  if (2 * waiting <= available) return undefined;
  const words = prepared.understanding.outcomes.flatMap((each) =>
    each.kind === "reject" ? (each.unknownStatus ?? []) : [],
  );
  const named = [...new Set(words)].slice(0, wordsShown).map((word) => JSON.stringify(word));
  return refused(
    `${waiting} of the ${available} available animals have words for their status that are not known: ${named.join(", ")}.`,
    "Say what the words mean with --status.",
    "mostUnexplained",
  );
}
