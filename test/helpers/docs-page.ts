/** What a reader does on the documentation page. */
import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";

export const formOf = (page: Page, operation: string) => page.locator(`#${operation} form`);

/** Sends the form and returns the panel with the answer to it. */
export async function send(form: Locator): Promise<Locator> {
  const result = form.locator(".result");
  // The answer is put in place of what stands there.
  const before = await result.locator(":scope > *").first().elementHandle();
  await form.getByRole("button", { name: "Send" }).click();
  await before?.evaluate(
    (node) =>
      new Promise<void>((resolve) => {
        const element = node as unknown as { readonly isConnected: boolean };
        const look = () => (element.isConnected ? setTimeout(look, 10) : resolve());
        look();
      }),
  );
  return result;
}

/** How much of an element is on the screen and below what sticks to its upper edge, from 0 to 1. */
export function visibleShare(of: Locator): Promise<number> {
  return of.evaluate((node) => {
    /* eslint-disable */
    const scope = globalThis as unknown as Record<string, any>;
    const { top, bottom, height } = (node as any).getBoundingClientRect();
    const sticking = [...scope["document"].querySelectorAll("header, nav")]
      .filter((each: any) => scope["getComputedStyle"](each).position === "sticky")
      .map((each: any) => each.getBoundingClientRect())
      .filter((box: any) => box.top === 0 && box.width > scope["innerWidth"] / 2);
    const edge = Math.max(0, ...sticking.map((box: any) => box.bottom));
    const seen = Math.min(bottom, scope["innerHeight"]) - Math.max(top, edge);
    return Math.max(0, seen) / height;
  });
}

const axe = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Text whose contrast is below what WCAG asks for. */
export const dimText = (page: Page) => axeFindings(page, ["color-contrast"], 0);

/** What axe finds wrong with the page as it is: WCAG 2.2 A and AA, and best practices. */
export async function axeFindings(page: Page, only = rules, passesMin = 10): Promise<string[]> {
  await page.evaluate(axe);
  const found = (await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(only)} })`,
  )) as {
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
    passes: unknown[];
  };
  if (found.passes.length < passesMin) throw new Error("axe did not look at the page");
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}
