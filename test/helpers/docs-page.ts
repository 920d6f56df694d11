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

const axe = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Text whose contrast is below what WCAG asks for. */
export const dimText = (page: Page) => axeFindings(page, ["color-contrast"], 0);

/** What axe finds wrong with the page as it is: WCAG 2.2 A and AA, and best practices. */
export async function axeFindings(page: Page, only = rules, passesMin = 10): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate<{
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
    passes: unknown[];
  }>(`axe.run(document, { runOnly: ${JSON.stringify(only)} })`);
  if (found.passes.length < passesMin) throw new Error("axe did not look at the page");
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}
