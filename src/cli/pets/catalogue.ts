import { AppError } from "../../domain/errors.ts";
import type { Services } from "../../service/services.ts";

/** The part of the store that whole catalogues go through. */
export function catalogueOf({ catalogue }: Services): NonNullable<Services["catalogue"]> {
  if (catalogue !== undefined) return catalogue;
  throw new AppError("unavailable", "This store cannot take whole catalogues in or out.", {
    hint: "use a data folder (--data DIR)",
  });
}
