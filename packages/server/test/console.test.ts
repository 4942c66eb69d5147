import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createOpenAIUpstream, type Upstream } from '@questline/testing/upstreams';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, openWindow, type Window } from './browser.ts';
import { emptyFolder, questline, type Running } from './command.ts';

const root = join(import.meta.dirname, '../../..');
const pictures = join(root, 'test-results', 'console');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const EMAIL = 'ada@example.com';

/** What the page itself finds to be in the way of people, of those findings that are serious. */
async function obstacles(page: Page): Promise<string[]> {
  const found = await page.evaluate(
    `(() => { ${axe}; return axe.run(document, { resultTypes: ['violations'] }); })()`,
  );
  const { violations } = found as {
    violations: { id: string; impact: string; nodes: { html: string }[] }[];
  };
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

describe.skipIf(!hasBrowser())('the console in a browser', () => {
  let upstream: Upstream;
  let finishAnswer: () => void;

  beforeAll(async () => {
    await promisify(execFile)('npm', ['run', '--silent', 'build:app', '-w', '@questline/console'], {
      cwd: root,
    });
    mkdirSync(pictures, { recursive: true });
    const held = new Promise<void>((resolve) => {
      finishAnswer = resolve;
    });
    upstream = await createOpenAIUpstream();
    upstream.use({ steps: [{ text: 'A **river** ' }, { wait: held }, { text: 'flows to the sea.' }] });
  }, 120_000);
  afterAll(() => upstream.close());

  async function begin(): Promise<{ running: Running; url: string }> {
    const running = questline(['start', '--host', '127.0.0.1'], {
      cwd: emptyFolder(),
      env: { PORT: '0', OPENAI_API_KEY: 'sk-test-0123456789abcdef', OPENAI_BASE_URL: upstream.baseUrl },
    });
    const [, url = ''] = await running.until(/listens on (\S+)/);
    return { running, url };
  }

  async function signIn({ page }: Window, running: Running, url: string): Promise<void> {
    await page.goto(url);
    await page.getByLabel('E-mail address').fill(EMAIL);
    await page.getByRole('button', { name: 'Send the code' }).click();
    const [, code = ''] = await running.until(/Mail for ada@example\.com: \D*(\d{6})/);
    await page.getByLabel('Code', { exact: true }).fill(code);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page
      .getByLabel('Your name')
      .fill('Ada')
      .catch(async (error) => {
        throw new Error(`no form for a name: ${await page.locator('main').textContent()}`, { cause: error });
      });
    await page.getByRole('button', { name: 'Create the account' }).click();
    await page.getByLabel('Message').waitFor();
  }

  it('takes a newcomer from the printed code to an answer, a key and the usage', {
    timeout: 120_000,
  }, async () => {
    const { running, url } = await begin();
    const window = await openWindow({ width: 1200, height: 800 });
    try {
      const { page, complaints } = window;
      const look = async (name: string): Promise<void> => {
        await page.screenshot({ path: join(pictures, `${name}.png`) });
        expect([name, await obstacles(page)]).toEqual([name, []]);
      };
      await signIn(window, running, url);
      // The first account administers the workspace.
      await page.getByRole('link', { name: 'Settings' }).waitFor();
      await look('new');

      await page.getByLabel('Model', { exact: true }).selectOption({ index: 1 });
      await page.getByLabel('Message').fill('What does a river do?');
      await page.keyboard.press('Enter');
      const answer = page.locator('.said.assistant');
      await answer.getByText('A river').waitFor();
      expect(await answer.textContent()).not.toContain('flows');
      await look('streaming');
      finishAnswer();
      await answer.getByText('flows to the sea.').waitFor();
      expect(await answer.locator('strong').textContent()).toBe('river');
      // The conversation has an address of its own, and is there when one comes back to it.
      await page.waitForURL(/#\/chat\/[0-9a-f]{24}$/);
      await page.reload();
      await page.locator('.said.assistant').getByText('flows to the sea.').waitFor();
      await look('chat');

      await page.getByRole('link', { name: 'API keys' }).click();
      await page.getByRole('button', { name: 'New key' }).click();
      await page.getByLabel('Name', { exact: true }).fill('laptop');
      await page.getByLabel('What it may do').selectOption('full');
      await page.getByRole('button', { name: 'Make the key' }).click();
      const key = (await page.locator('.secret').textContent()) ?? '';
      await look('key');
      const me = await fetch(`${url}/api/v1/me`, { headers: { Authorization: `Bearer ${key}` } });
      expect([me.status, ((await me.json()) as { name: string }).name]).toEqual([200, 'Ada']);
      await page.getByRole('button', { name: 'Close' }).click();
      await page.locator('.secret').waitFor({ state: 'detached' });
      expect(await page.content()).not.toContain(key);

      await page.getByRole('link', { name: 'Files' }).click();
      await page
        .getByLabel('Files to upload')
        .setInputFiles({ name: 'rivers.txt', mimeType: 'text/plain', buffer: Buffer.from('The Rhine.') });
      await page.getByRole('cell', { name: 'clean' }).waitFor();
      await look('files');

      await page.getByRole('link', { name: 'Usage' }).click();
      await page.getByRole('cell', { name: 'sendChatMessage' }).waitFor();
      await look('usage');

      const kept = await page.evaluate('JSON.stringify(localStorage)');
      expect(Object.keys(JSON.parse(String(kept))).sort()).toEqual(['questline.theme', 'questline.token']);
      expect(complaints).toEqual([]);

      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('E-mail address').waitFor();
      expect(await page.evaluate("localStorage.getItem('questline.token')")).toBeNull();
    } finally {
      await window.close();
    }
  });

  it('shows every place by keyboard, on a phone, light and dark, and nothing is in the way', {
    timeout: 120_000,
  }, async () => {
    const { running, url } = await begin();
    const window = await openWindow({ width: 390, height: 800 });
    try {
      const { page } = window;
      await signIn(window, running, url);
      const places = [
        'Chat',
        'Files',
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
          await page.screenshot({
            path: join(pictures, `phone-${theme}-${place.toLowerCase().replace(' ', '-')}.png`),
          });
          expect([theme, place, await obstacles(page)]).toEqual([theme, place, []]);
          const overflow = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
          expect([place, await page.evaluate(overflow)]).toEqual([place, false]);
        }
      }
    } finally {
      await window.close();
    }
  });
});
