import { existsSync } from 'node:fs';
import { chromium, type Page } from 'playwright-core';

const CHROMIUM = process.env.QUESTLINE_TEST_CHROMIUM ?? '/usr/bin/chromium';

/** Whether there is a browser to test with. Where everything must be tested, a missing one is a failure. */
export function hasBrowser(): boolean {
  if (existsSync(CHROMIUM)) return true;
  if (process.env.CI === 'true') throw new Error(`there is no browser at ${CHROMIUM}`);
  console.warn(`not run: there is no browser at ${CHROMIUM}; QUESTLINE_TEST_CHROMIUM names another one`);
  return false;
}

export interface Window {
  readonly page: Page;
  /** What the page complained about. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

export async function openWindow(size: { width: number; height: number }): Promise<Window> {
  const browser = await chromium.launch({
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
    ],
  });
  const page = await browser.newPage({ viewport: size });
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return { page, complaints, close: () => browser.close() };
}
