import { expect, test } from "bun:test";
import { html, trusted } from "../../src/web/html.ts";

/** By another name, because the formatter lays out what is tagged `html`. */
const tag = html;

test("html escapes every value that is not markup", () => {
  const text = "\"'<&>";
  expect(tag`<p title="${text}">${text}</p>`.text).toBe(
    '<p title="&quot;&#39;&lt;&amp;&gt;">&quot;&#39;&lt;&amp;&gt;</p>',
  );
});

test("html puts markup in as it is, lists joined, and shows nothing for nothing", () => {
  const items = [1, 2].map((item) => tag`<li>${item}</li>`);
  expect(tag`<ul>${items}</ul>${undefined}${false}${trusted("<hr>")}`.text).toBe(
    "<ul><li>1</li><li>2</li></ul><hr>",
  );
});
