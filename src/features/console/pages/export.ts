import { exportFormats, exportText, type ExportFormat } from "../../import/write/export.ts";
import { html } from "../../docs/html.ts";
import { download } from "../web/answer.ts";
import type { Visit } from "../web/visit.ts";
import { askedOf, listPath } from "./animals.ts";
import { notFoundPage } from "./failures.ts";
import { consolePage } from "./layout.ts";
import { number } from "./parts.ts";

/** Animals that are read in one go; then everybody else gets a turn. */
const batchAnimals = 1_000;

const types: Readonly<Record<ExportFormat, string>> = {
  csv: "text/csv; charset=utf-8",
  json: "application/json",
  ndjson: "application/x-ndjson",
};

/** `GET /export`: the animals of a list as a file, in each format. */
export async function exportPage(visit: Visit): Promise<Response> {
  const { words, desk } = visit;
  const asked = askedOf(visit);
  const { found, isMore } = await desk.animals.find({ ...asked, limit: 1 });
  const parameters = listPath(asked).split("?")[1];
  return consolePage(visit, {
    title: words.export.title,
    section: "animals",
    body: html`<p class="trail"><a href="${listPath(asked)}">${words.animals.backToAll}</a></p>
      <h1>${words.export.title}</h1>
      <section class="card narrow">
        <p>${words.export.what(`${number(visit, found)}${isMore ? "+" : ""}`)}</p>
        <ul class="lines">
          ${(["csv", "json", "ndjson"] as const).map(
            (format) =>
              html`<li>
                <a
                  href="/export/${format}${parameters === undefined ? "" : `?${parameters}`}"
                  download
                  >${words.export[format]}</a
                >
              </li>`,
          )}
        </ul>
      </section>`,
  });
}

/** `GET /export/:format`: the file, written while it is read, so that its size costs no memory. */
export function exportFile(visit: Visit): Response {
  const format = exportFormats.find((each) => each === visit.params["format"]);
  if (format === undefined) return notFoundPage(visit);
  const batches = visit.desk.animals.all({ ...askedOf(visit), limit: batchAnimals });
  const text = exportText(batches, format);
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await text.next();
      if (done === true) controller.close();
      else controller.enqueue(new TextEncoder().encode(value));
    },
    async cancel() {
      await text.return(undefined);
    },
  });
  return download(stream, `animals.${format}`, types[format]);
}
