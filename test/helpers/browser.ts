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
  "phone in the dark": {
    viewport: { width: 360, height: 740 },
    colorScheme: "dark",
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

/**
 * Text on the page that is harder to read than WCAG 2.2, 1.4.3 allows: a contrast below 4.5, or
 * below 3 for large text. Each with its colours, so that the finding can be judged.
 */
export function dimText(page: Page): Promise<string[]> {
  return page.evaluate(findDimText);
}

/** Runs in the page. */
function findDimText(): string[] {
  /* eslint-disable */
  const scope = globalThis as unknown as Record<string, any>;
  const pixel = new scope["OffscreenCanvas"](1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (colour: string): number[] => {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = colour;
    pixel.fillRect(0, 0, 1, 1);
    return [...pixel.getImageData(0, 0, 1, 1).data];
  };
  const over = (top: number[], below: number[]) =>
    [0, 1, 2].map((i) => (top[i]! * top[3]!) / 255 + below[i]! * (1 - top[3]! / 255));
  const backgroundOf = (element: any): number[] => {
    if (element === null) return [255, 255, 255];
    const own = rgba(scope["getComputedStyle"](element).backgroundColor);
    return own[3] === 255 ? own : over(own, backgroundOf(element.parentElement));
  };
  const light = (colour: number[]) => {
    const [r, g, b] = colour.map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  };
  const found: string[] = [];
  for (const element of scope["document"].querySelectorAll("body *")) {
    const isText = [...element.childNodes].some(
      (node: any) => node.nodeType === 3 && node.textContent.trim() !== "",
    );
    if (!isText || !element.checkVisibility()) continue;
    const style = scope["getComputedStyle"](element);
    const background = backgroundOf(element);
    const ink = over(rgba(style.color), background);
    const [high, low] = [light(ink), light(background)].toSorted((a, b) => b - a);
    const contrast = (high! + 0.05) / (low! + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (contrast < (isLarge ? 3 : 4.5)) {
      found.push(
        `${contrast.toFixed(2)} ${style.color} "${element.textContent.trim().slice(0, 40)}"`,
      );
    }
  }
  return [...new Set(found)];
}
