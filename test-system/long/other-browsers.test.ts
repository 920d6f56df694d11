/** The main ways through the pages in the engines of Firefox and of Safari, as Debian has them. */
import { afterAll, expect, test } from "bun:test";
import { makeKey, temporaryFolder } from "../../test/helpers/binary.ts";
import { invite, serveConsole } from "../../test/helpers/console.ts";
import { freePort } from "../../test/helpers/free-port.ts";
import { until } from "../../test/helpers/ask.ts";

const folder = temporaryFolder();
const children: Bun.Subprocess[] = [];
afterAll(async () => {
  for (const child of children.toReversed()) {
    child.kill();
    await child.exited;
  }
  folder[Symbol.dispose]();
});

/** Starts a program, and waits until something of it is there. */
async function start(command: string[], isThere: () => Promise<unknown>, display = "") {
  const own = {
    HOME: folder.path,
    DISPLAY: display,
    WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1",
  };
  children.push(Bun.spawn(command, { env: { ...process.env, ...own }, stderr: "ignore" }));
  await until(() => isThere().then(Boolean, () => false));
}

/** Both return how to go to an address, and how to get the value of an expression there. */
async function firefox(port: number) {
  const flags = ["--headless", "--no-remote", `--remote-debugging-port=${port}`];
  const command = ["firefox-esr", ...flags, "--profile", folder.path];
  await start(command, () => fetch(`http://127.0.0.1:${port}/`));
  const socket = new WebSocket(`ws://127.0.0.1:${port}/session`);
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  const waiting: ((message: string) => void)[] = [];
  socket.addEventListener("message", ({ data }) => waiting[JSON.parse(data).id]?.(data));
  const send = async (method: string, params: object) => {
    const answer = new Promise<string>((resolve) => waiting.push(resolve));
    socket.send(JSON.stringify({ id: waiting.length - 1, method, params }));
    return JSON.parse(await answer).result;
  };
  await send("session.new", { capabilities: {} });
  const [{ context }] = (await send("browsingContext.getTree", {})).contexts;
  const inPage = { target: { context }, awaitPromise: true };
  return {
    goto: (url: string) => send("browsingContext.navigate", { context, url, wait: "complete" }),
    run: async (expression: string) =>
      (await send("script.evaluate", { ...inPage, expression }))?.result?.value,
  };
}

async function webkit(port: number) {
  const [screen, driver] = [`:${port}`, `http://127.0.0.1:${port}`];
  const isThere = () => Bun.file(`/tmp/.X11-unix/X${port}`).stat();
  await start(["Xvfb", screen, "-nolisten", "tcp"], isThere);
  await start(["WebKitWebDriver", `--port=${port}`], () => fetch(`${driver}/status`), screen);
  const post = async (path: string, body: object) => {
    const options = { method: "POST", body: JSON.stringify(body) };
    return JSON.parse(await (await fetch(`${driver}/session${path}`, options)).text()).value;
  };
  const binary = "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser";
  const alwaysMatch = { "webkitgtk:browserOptions": { binary, args: ["--automation"] } };
  const { sessionId } = await post("", { capabilities: { alwaysMatch } });
  return {
    goto: (url: string) => post(`/${sessionId}/url`, { url }),
    run: (expression: string) =>
      post(`/${sessionId}/execute/sync`, { script: `return ${expression}`, args: [] }),
  };
}

const list = "Name,Species,Status,Ref\nRex,Dog,Available,1\nMia,Cat,Adopted,2\n";

test.each([["Firefox", firefox] as const, ["WebKit", webkit] as const])(
  "%s: the desk, the documentation page and the public page",
  async (_name, open) => {
    using data = temporaryFolder();
    await using server = await serveConsole(data.path, ["--public", "on"]);
    const { goto, run } = await open(await freePort());
    const found = (of: string, text: string) =>
      `[...document.querySelectorAll("${of}")].find((each) =>
        (each.ariaLabel ?? each.textContent).trim() === "${text}" && each.checkVisibility())`;
    // Before a page is complete, its script does not run yet.
    const holds = (what: string) =>
      until(async () => (await run(`document.readyState === "complete" && !!${what}`)) === true);
    const see = (text: string) =>
      holds(`document.body.innerText.includes(${JSON.stringify(text)})`);
    const act = async (of: string, text: string, action: string) => {
      await holds(found(of, text));
      return await run(`((it) => ${action})(${found(of, text)})`);
    };
    const press = (text: string, of = "a, button") => act(of, text, "it.click()");
    const fill = (label: string, text: string) =>
      act(
        "label",
        label,
        `{ it.control.value = "${text}";
        it.control.dispatchEvent(new Event("input", { bubbles: true })); }`,
      );

    await goto(await invite(data.path, "Ana", "staff"));
    await press("Join");
    await press("Add animal");
    await fill("Name", "Luna");
    await fill("Category", "Dog");
    await press("Español");
    await see("Añadir un animal");
    expect(await act("label", "Nombre", "it.control.value")).toBe("Luna");
    await press("English");
    await press("Add animal");
    await see("Added: Luna.");
    await press("Animals");
    await press("adopted: Luna");
    await see("available → adopted");
    await press("Import");
    await act(
      "label",
      "File",
      `{ const files = new DataTransfer();
      files.items.add(new File([${JSON.stringify(list)}], "one.csv", { type: "text/csv" }));
      it.control.files = files.files; }`,
    );
    await press("Import", "main button");
    await see("one.csv");
    await press("Import", "main button");
    await press("See the animals");
    await fill("Search", "Rex");
    await see("1 of 3 animals");

    await goto(`${server.origin}/docs`);
    await fill("API key", (await makeKey(data.path)).key);
    await press("Send", "#createPet button");
    await see('"id": 4');
    await goto(`${server.origin}/animals`);
    await see("2 animals are looking for a home");
  },
);
