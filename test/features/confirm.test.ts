import { describe, expect, test } from "bun:test";
import { confirm } from "../../src/features/confirm.ts";
import { UsageError } from "../../src/features/usage-error.ts";
import { testIo } from "../helpers/io.ts";

const asking = (answer: string, questions: string[] = []) =>
  testIo({
    canAsk: true,
    ask: async (question) => {
      questions.push(question);
      return answer;
    },
  });

const failureOf = (going: Promise<void>) =>
  going.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("at a terminal", () => {
  test.each(["y", "Y", "yes", " yes "])("%j goes on", async (answer) => {
    const questions: string[] = [];
    await confirm(asking(answer, questions), "Sure?", { yes: false, unattended: "refuse" });
    expect(questions).toEqual(["Sure? [y/N] "]);
  });

  test.each(["", "n", "no", "yess", "j"])("%j does not", async (answer) => {
    const going = confirm(asking(answer), "Sure?", { yes: false, unattended: "proceed" });
    expect(await failureOf(going)).toEqual(new Error("Nothing was changed."));
  });

  test("--yes asks nothing", async () => {
    const questions: string[] = [];
    await confirm(asking("n", questions), "Sure?", { yes: true, unattended: "refuse" });
    expect(questions).toEqual([]);
  });
});

describe("without a terminal", () => {
  test("what cannot be undone needs --yes", async () => {
    const going = confirm(testIo(), "Sure?", { yes: false, unattended: "refuse" });
    expect(await failureOf(going)).toBeInstanceOf(UsageError);
    await confirm(testIo(), "Sure?", { yes: true, unattended: "refuse" });
  });

  test("an emergency stop does not", async () => {
    await confirm(testIo(), "Sure?", { yes: false, unattended: "proceed" });
  });
});
