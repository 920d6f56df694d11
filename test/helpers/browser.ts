import { afterAll, beforeAll } from "bun:test";
import { chromium, type Browser, type BrowserContextOptions } from "playwright-core";

/** As root, without a display, and speaking to nobody: every name but this machine's is unknown. */
const flags = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

export const screens = {
  light: { viewport: { width: 1360, height: 900 }, colorScheme: "light" },
  dark: { viewport: { width: 1360, height: 900 }, colorScheme: "dark" },
  phone: {
    viewport: { width: 390, height: 844 },
    colorScheme: "light",
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
  },
} as const satisfies Record<string, BrowserContextOptions>;

/** Opens an address in a window of its own, and gathers what the browser complains of. */
async function openPage(browser: Browser, url: string, options: BrowserContextOptions) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  /** Requests to any other host, and whatever the browser complained of. */
  const complaints: string[] = [];
  const { origin } = new URL(url);
  page.on("request", (request) => {
    const address = request.url();
    const isOwn = address.startsWith(`${origin}/`) || address.startsWith("data:");
    if (!isOwn) complaints.push(`asked for ${address}`);
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // That an answer was 401 or 429 is logged too, and is what some tests are about.
    const isStatus = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isStatus) complaints.push(message.text());
  });
  await page.goto(url);
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
}

/** Debian's Chromium without its windows, which take a third of its time, for a file's tests. */
export function browserForAll(more: readonly string[] = []) {
  let browser: Browser;
  beforeAll(async () => {
    const executablePath = "/usr/bin/chromium-headless-shell";
    browser = await chromium.launch({ executablePath, args: [...flags, ...more] });
  });
  afterAll(() => browser.close());
  return {
    newPage: () => browser.newPage(),
    open: (url: string, options: BrowserContextOptions = screens.light) =>
      openPage(browser, url, options),
  };
}
