import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { createOpenAIUpstream } from '@questline/testing/upstreams';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { hasBrowser } from './browser.ts';
import { filmsRound, inThisProcess } from './films.ts';
import {
  DESKTOP,
  inWindow,
  keyboardJourney,
  newcomersJourney,
  obstacles,
  photograph,
  riverModels,
  root,
  signUp,
} from './journey.ts';
import { administratorsRound } from './round.ts';
import { hasServices, inFolder, onServices } from './workplaces.ts';

// Processes, a browser and pictures take their time on a busy machine.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 });

/** Bytes, compressed. */
const LARGEST = 150_000;
const PHONE = { width: 390, height: 800 };

const hasEverything = hasBrowser() && (await hasServices());

/** A provider with a key, until the test ends. */
async function rivers() {
  const { script, finishFirst } = riverModels();
  const upstream = await createOpenAIUpstream({ script });
  onTestFinished(() => upstream.close());
  const models = { OPENAI_API_KEY: 'sk-test-0123456789abcdef', OPENAI_BASE_URL: upstream.baseUrl };
  return { models, finishFirst };
}

describe.skipIf(!hasBrowser())('the console in a browser', () => {
  beforeAll(async () => {
    await promisify(execFile)('npm', ['run', '--silent', 'build:app', '-w', '@questline/console'], {
      cwd: root,
    });
  });

  it('is small, and names no other place to load anything from', () => {
    const folder = join(root, 'packages/console/dist/app');
    const sizes = readdirSync(folder).map((file) => gzipSync(readFileSync(join(folder, file))).length);
    const sum = sizes.reduce((total, size) => total + size, 0);
    console.log(`the console: ${Math.round(sum / 1000)} kB compressed`);
    expect(sum).toBeLessThan(LARGEST);
    for (const file of ['index.html', 'console.css']) {
      expect(readFileSync(join(folder, file), 'utf8')).not.toMatch(/(?:https?:)?\/\/[\w-]+\.\w/);
    }
  });

  for (const { name, set, open } of [
    { name: 'a folder', set: 'folder', open: inFolder },
    { name: 'PostgreSQL, Redis, S3 and SMTP', set: 'services', open: onServices },
  ]) {
    it.skipIf(open === onServices && !hasEverything)(
      `takes a newcomer from the code to an answer, a key, a file and the usage, on ${name}`,
      async () => {
        const { models, finishFirst } = await rivers();
        const workplace = await open(models);
        await inWindow(DESKTOP, workplace, (window) => newcomersJourney(window, workplace, finishFirst, set));
      },
    );
  }

  it('can be used without a mouse, from the door to an answer and a key', async () => {
    const { models, finishFirst } = await rivers();
    finishFirst();
    const workplace = await inFolder(models);
    await inWindow(DESKTOP, workplace, (window) => keyboardJourney(window, workplace));
  });

  it('does at every place what it offers: agents, data lakes, settings, users, invites', async () => {
    const workplace = await inFolder((await rivers()).models);
    await inWindow(DESKTOP, workplace, (window) => administratorsRound(window, workplace));
  });

  it('has a film made, plays it, and cancels another one', async () => {
    const workplace = await inThisProcess();
    await inWindow(DESKTOP, { running: { output: () => '' } }, (window) => filmsRound(window, workplace));
  });

  it('shows the code of an invite once where there is no key to keep it with', async () => {
    const workplace = await inThisProcess();
    await inWindow(DESKTOP, { running: { output: () => '' } }, async (window) => {
      const { page, complaints } = window;
      await signUp(window, workplace);
      await page.getByRole('link', { name: 'Invites' }).click();
      await page.getByRole('button', { name: 'Make invites' }).click();
      await page.locator('code', { hasText: /^\w{20}$/ }).waitFor();
      await page.reload();
      await page.locator('code', { hasText: 'not kept' }).waitFor();
      expect(complaints).toEqual([]);
    });
  });

  it('stays signed in when a model provider is refused, and not when its own token is', async () => {
    const workplace = await inThisProcess();
    await inWindow(DESKTOP, { running: { output: () => '' } }, async (window) => {
      const { page } = window;
      await signUp(window, workplace);
      const refused = (more: Readonly<Record<string, string>>) => ({
        status: 401,
        contentType: 'application/json',
        headers: more,
        body: JSON.stringify({ error: 'Refused by somebody' }),
      });
      await page.route('**/api/v1/usage', (route) => route.fulfill(refused({})));
      await page.getByRole('link', { name: 'Usage' }).click();
      await page.getByRole('alert').getByText('Refused by somebody').waitFor();
      await page.getByRole('heading', { name: 'Usage' }).waitFor();
      await page.route('**/api/v1/files**', (route) =>
        route.fulfill(refused({ 'WWW-Authenticate': 'Bearer' })),
      );
      await page.getByRole('link', { name: 'Files' }).click();
      await page.getByLabel('E-mail address').waitFor();
    });
  });

  it('shows every place by keyboard, on a phone, light and dark, and nothing is in the way', async () => {
    const workplace = await inFolder((await rivers()).models);
    await inWindow(PHONE, workplace, async (window) => {
      const { page } = window;
      await signUp(window, workplace);
      const places = [
        'Chat',
        'Files',
        'Films and music',
        'Agents',
        'Data lakes',
        'API keys',
        'Usage',
        'Settings',
        'Users',
        'Invites',
      ];
      for (const theme of ['light', 'dark']) {
        await page.getByLabel('Theme').selectOption(theme);
        for (const place of places) {
          await page.getByRole('link', { name: place, exact: true }).focus();
          await page.keyboard.press('Enter');
          if (place !== 'Chat') await page.getByRole('heading', { name: place, level: 1 }).waitFor();
          await page.locator('.quiet', { hasText: 'Loading' }).waitFor({ state: 'detached' });
          await photograph(page, `phone-${theme}-${place.toLowerCase().replaceAll(' ', '-')}`);
          expect([theme, place, await obstacles(page)]).toEqual([theme, place, []]);
          const overflow = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
          expect([place, await page.evaluate(overflow)]).toEqual([place, false]);
        }
      }
    });
  });
});
