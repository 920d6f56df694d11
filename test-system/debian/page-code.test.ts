/** The code that the page shows, as it stands there, run in its language against the executable. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { languages, type LanguageId } from "../../src/features/docs/samples.ts";
import { callerOf } from "../../test/helpers/ask.ts";
import { type RunningBinary, serveForAll } from "../../test/helpers/binary.ts";
import { browserForAll } from "../../test/helpers/browser.ts";
import { formOf } from "../../test/helpers/docs-page.ts";
import { finished } from "../../test/helpers/finished.ts";
import { limitedProxy } from "../../test/helpers/limited-proxy.ts";

const biggest = "9223372036854775807";
const name = `Rex's "friend" \\ $1 \`ż\` 🐕`;
let server: RunningBinary;
let folder: string;
let key: string;
/** What the page shows of each operation, by language. */
const code: Record<string, Record<string, string>> = {};

const file = (name: string) => join(folder, name);
/** How a program is run. Debian's own Python has Debian's requests. */
const commands: Record<LanguageId, { readonly file: string; readonly command: string[] }> = {
  curl: { file: "sample.sh", command: ["sh"] },
  javascript: { file: "sample.mjs", command: [process.execPath] },
  python: { file: "sample.py", command: ["/usr/bin/python3"] },
  php: { file: "sample.php", command: ["php"] },
};

const browser = browserForAll();
serveForAll(async (running, ofServer, at) => {
  [server, key, folder] = [running, ofServer, at];
  await using opened = await browser.open(`${server.origin}/docs`);
  const { page } = opened;
  await page.fill("#key", key);
  const create = formOf(page, "createPet");
  await create.locator("textarea").fill(`{"name":${JSON.stringify(name)},"categoryId":${biggest}}`);
  await formOf(page, "listPets").getByLabel("limit").fill("1");
  await formOf(page, "getPet").getByLabel("petId").fill("1");
  for (const operation of ["createPet", "listPets", "getPet"]) {
    const blocks = formOf(page, operation).locator("[data-language]");
    code[operation] = Object.fromEntries(
      await blocks.evaluateAll((all) =>
        all.map((each) => {
          const { dataset, textContent } = each as unknown as {
            dataset: { language: string };
            textContent: string;
          };
          return [dataset.language, textContent];
        }),
      ),
    );
  }
});

async function run(language: LanguageId, text: string) {
  const program = commands[language];
  await Bun.write(file(program.file), text);
  const env = { ...process.env, API_KEY: key };
  return finished([...program.command, file(program.file)], { cwd: folder, env });
}

/** The plain way to read JSON in JavaScript rounds, and the code says so. */
const shownAs = (language: LanguageId) =>
  language === "javascript" ? "9223372036854776000" : biggest;

test("is there in four languages, without the key, for each operation", () => {
  for (const shown of Object.values(code)) {
    expect(Object.keys(shown)).toEqual(languages.map(({ id }) => id));
    for (const text of Object.values(shown)) {
      expect(text).toContain(`${server.origin}/v1/pets`);
      expect(text).not.toContain(key);
    }
  }
});

test.each(languages.map(({ id }, at) => [id, at + 1] as const))(
  "in %s it adds with every digit and character, lists to the end, waits for Retry-After, and gets",
  async (language, id) => {
    const proxy = limitedProxy(server.origin, { 1: { status: 429, retryAfterSeconds: 2 } });
    for (const operation of ["createPet", "listPets", "getPet"]) {
      const text = code[operation]![language]!.replaceAll(server.origin, proxy.origin);
      const { stdout, stderr, exitCode } = await run(language, text);
      expect([exitCode, stderr.replace(/ +%.*/s, "")]).toEqual([0, ""]);
      expect(stdout).toContain(shownAs(language));
    }
    await proxy.stop();
    const stored = await (await callerOf(server, key).get(`/v1/pets/${id}`)).text();
    expect(JSON.parse(stored)).toMatchObject({ name });
    expect(stored).toContain(`"categoryId":${biggest}`);
    // The animal, the list that is refused and then comes, its further pages but with curl, getPet.
    expect(proxy.arrivals.length).toBeGreaterThanOrEqual(4);
    const [, second = 0, third = 0] = proxy.arrivals;
    expect(third - second).toBeGreaterThanOrEqual(1_950);
  },
);
