import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

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

/** Debian's Chromium without its windows, which take a third of its time; with a new profile. */
export function startBrowser(more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: "/usr/bin/chromium-headless-shell",
    args: [...flags, ...more],
  });
}

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

interface OpenPage {
  readonly page: Page;
  /** Requests to any other host, and whatever the browser complained of. */
  readonly complaints: readonly string[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** Opens an address of `origin` in a window of its own. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = screens.light,
): Promise<OpenPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
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
