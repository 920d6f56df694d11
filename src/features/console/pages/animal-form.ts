import { html, type Html } from "../../docs/html.ts";
import type { Visit } from "../web/visit.ts";
import type { Words } from "../words/index.ts";
import {
  categoryField,
  formError,
  statusChoice,
  statusField,
  textField,
  type FieldErrors,
} from "./parts.ts";
import {
  characterCount,
  isPetName,
  petNameLengthMax,
  type PetFieldName,
} from "../../../domain/pet.ts";
import { isVisible } from "../../visible.ts";
import { type OptionalTextName, optionalTextNames } from "../../optional-texts.ts";

/** The fields of an animal as a form has them. */
export type AnimalValues = Readonly<
  Record<"category" | Exclude<PetFieldName, "categoryId">, string>
>;

type Texts<T> = { readonly [N in OptionalTextName]: T };

/** What `valueOf` has for each optional text of an animal. */
export function textsOf<T>(valueOf: (name: OptionalTextName) => T) {
  const texts = optionalTextNames.map((name) => [name, valueOf(name)] as const);
  // oxlint-disable-next-line typescript/no-generated-empty-object-type -- no field is one by now
  return Object.fromEntries(texts) as Texts<T>;
}

/** The fields of an animal that nobody described yet. */
export const noValues: AnimalValues = {
  name: "",
  category: "",
  status: "available",
  ...textsOf(() => ""),
};

interface AnimalFormParts {
  readonly action: string;
  readonly values: AnimalValues;
  /** What the animal is while the form is shown: a field that stays so was not changed here. */
  readonly was?: AnimalValues;
  /** Names of categories to suggest. */
  readonly names: readonly string[];
  readonly button: string;
  readonly errors?: FieldErrors;
}

/** The form of an animal. The browser checks nothing: what is wrong stands beside its field. */
export function animalForm(
  visit: Visit,
  { action, values, was, names, button, errors = {} }: AnimalFormParts,
): Html {
  const { words } = visit;
  return html`<form method="post" action="${action}" novalidate>
    ${formError(errors)}
    ${
      was &&
      fieldsOf(was).map(
        ([field, value]) => html`<input type="hidden" name="was-${field}" value="${value}" />`,
      )
    }
    ${textField({
      name: "name",
      label: words.fields.name,
      value: values.name,
      error: errors["name"],
    })}
    ${categoryField(visit, values.category, names, errors["category"])}
    ${statusField(visit, values.status, errors["status"])}
    ${optionalTextNames.map((name) =>
      textField({ name, label: words.fields[name], value: values[name], error: errors[name] }),
    )}
    <button>${button}</button>
  </form>`;
}

/** The fields as they were sent. */
export function sentValues({ form }: Visit): AnimalValues {
  return {
    name: form.exact("name"),
    category: form.text("category"),
    status: form.text("status"),
    ...textsOf((name) => form.exact(name)),
  };
}

type AnimalField = keyof AnimalValues;

const fieldsOf = (values: AnimalValues) => Object.entries(values) as [AnimalField, string][];

/** A field holds one line: a name with a line break in it comes back without. */
const isSame = (one: string, other: string) => oneLine(one) === oneLine(other);
const oneLine = (text: string) => text.replaceAll(/[\r\n]/g, "");

interface SentChanges {
  /** The animal as it is with the fields that were changed in the form. */
  readonly values: AnimalValues;
  /** Fields that somebody else changed too since the form was shown. */
  readonly conflicts: readonly AnimalField[];
}

/**
 * What a form changes of an animal that is `known` by now. Fields that only others changed since
 * the form was shown stay as those have them.
 */
export function sentChanges(visit: Visit, known: AnimalValues): SentChanges {
  const { form } = visit;
  const sent = sentValues(visit);
  const changed = fieldsOf(known).flatMap(([field, value]) => {
    const was = form.has(`was-${field}`) ? form.exact(`was-${field}`) : value;
    const isChanged = !isSame(sent[field], was) && !isSame(sent[field], value);
    return isChanged ? [{ field, isConflict: !isSame(was, value) }] : [];
  });
  return {
    values: { ...known, ...Object.fromEntries(changed.map(({ field }) => [field, sent[field]])) },
    conflicts: changed.flatMap(({ field, isConflict }) => (isConflict ? [field] : [])),
  };
}

/** What is wrong with the fields, in words; empty when all is well. */
export function errorsOf(values: AnimalValues, words: Words): FieldErrors {
  const { name, category, status } = values;
  const nameError = nameErrorOf(name, words);
  const categoryError =
    category === "" ? words.errors.categoryMissing : nameErrorOf(category, words);
  const wrong = optionalTextNames.filter((text) => !isPetName(values[text]));
  return {
    ...Object.fromEntries(wrong.map((text) => [text, words.errors.name])),
    ...(nameError !== undefined && { name: nameError }),
    ...(categoryError !== undefined && { category: categoryError }),
    ...(statusChoice(status) === undefined && { status: words.errors.status }),
  };
}

/** What is wrong with a name of an animal, a category or a person. */
export function nameErrorOf(name: string, words: Words): string | undefined {
  if (!isVisible(name)) return words.errors.nameMissing;
  if (characterCount(name) > petNameLengthMax) return words.errors.nameLong(petNameLengthMax);
  return isPetName(name) ? undefined : words.errors.name;
}
