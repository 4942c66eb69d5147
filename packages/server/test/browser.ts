import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

const CHROMIUM = process.env.QUESTLINE_TEST_CHROMIUM ?? '/usr/bin/chromium';

/** Maximum time for an element to appear on a busy machine; it only ends tests that hang. */
const PATIENCE_MS = 120_000;

/** Whether a browser is available. If everything must be tested, a missing one is a failure. */
export function hasBrowser(): boolean {
  if (existsSync(CHROMIUM)) return true;
  if (process.env.CI === 'true') throw new Error(`no browser at ${CHROMIUM}`);
  console.warn(`not run: no browser at ${CHROMIUM}; QUESTLINE_TEST_CHROMIUM names another one`);
  return false;
}

export interface Window {
  readonly page: Page;
  /** Errors in the console of the page. */
  readonly complaints: readonly string[];
  /** Every origin to which the page sent a request. */
  readonly asked: ReadonlySet<string>;
  close(): Promise<void>;
}

/** The browser of all windows of this process. Starting one takes longer than most tests of a page. */
const shared: { browser?: Promise<Browser> } = {};

async function getBrowser(): Promise<Browser> {
  const known = shared.browser;
  const running = await known?.catch(() => undefined);
  if (running?.isConnected() === true) return running;
  if (shared.browser === known) shared.browser = launch();
  return shared.browser ?? launch();
}

/** Ends with this process. */
function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-dev-shm-usage',
    ],
    timeout: PATIENCE_MS,
  });
}

/** A window with its own cookies, storage and cache. */
export async function openWindow(size: { width: number; height: number }): Promise<Window> {
  const context = await (await getBrowser()).newContext({ viewport: size });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.setDefaultTimeout(PATIENCE_MS);
  const asked = new Set<string>();
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:' && protocol !== 'blob:') asked.add(origin);
  });
  return { page, complaints, asked, close: () => context.close() };
}

/**
 * Holds the next request of a method to an address. @returns after the request, a function that releases it and waits until
 * the page has the answer.
 */
export async function hold(page: Page, method: string, address: string): Promise<() => Promise<void>> {
  return new Promise((resolve) => {
    let isHeld = false;
    void page.route(address, (route) => {
      const request = route.request();
      if (isHeld || request.method() !== method) {
        void route.fallback();
        return;
      }
      isHeld = true;
      resolve(async () => {
        const arrived = page.waitForResponse((answer) => answer.request() === request);
        await route.continue();
        await (await arrived).finished();
      });
    });
  });
}
