import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build as buildPages } from 'vite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { hasBrowser, openWindow } from '../../packages/server/test/browser.ts';
import { build } from './app.ts';

vi.setConfig({ testTimeout: 300_000 });

async function startApp(): Promise<string> {
  const pages = await mkdtemp(join(tmpdir(), 'questline-pages-'));
  onTestFinished(() => rm(pages, { recursive: true }));
  await buildPages({
    root: import.meta.dirname,
    logLevel: 'error',
    build: { outDir: pages, emptyOutDir: true },
  });
  const server = build('0123456789abcdef'.repeat(4), pages).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the React example', () => {
  it('has at most 150 lines', () => {
    const files = globSync('{*.html,{app,server,vite.config}.ts,src/*}', { cwd: import.meta.dirname });
    const lines = files.flatMap((file) =>
      readFileSync(join(import.meta.dirname, file), 'utf8')
        .trimEnd()
        .split('\n'),
    );
    expect(files.sort()).toEqual([
      'app.ts',
      'index.html',
      'server.ts',
      'src/app.tsx',
      'src/main.tsx',
      'vite.config.ts',
    ]);
    expect(lines.length).toBeLessThanOrEqual(150);
  });

  it.runIf(hasBrowser())(
    'signs in, chats with tools and a file, and makes an image and a video',
    async () => {
      const origin = await startApp();
      const window = await openWindow({ width: 800, height: 600 });
      onTestFinished(() => window.close());
      const { page } = window;
      const turns: string[] = [];
      page.on('response', async (response) => {
        if (response.url().endsWith('/api/chat')) turns.push(((await response.json()) as { id: string }).id);
      });
      await page.goto(origin);
      await page.fill('[name=name]', 'ada');
      await page.click('text=Sign in');
      await page.waitForSelector('text=100.00 credits');

      await page.setInputFiles('[type=file]', {
        name: 'rivers.txt',
        mimeType: 'text/plain',
        buffer: Buffer.from('The Nile is long.'),
      });
      await page.waitForSelector('text=rivers.txt');
      await page.fill('[name=text]', 'What is the weather in Oslo?');
      await page.click('text=Send');
      await page.waitForSelector('.assistant code:has-text("weather(")');
      await page.waitForSelector('.assistant p:has-text("sunny")');
      await page.waitForSelector('[value=Stop]', { state: 'hidden' });
      const answer = await page.textContent('.assistant p');
      const quest = await page.evaluate(
        `fetch('/api/v1/quests/${turns[0]}').then((response) => response.json())`,
      );
      expect(quest).toMatchObject({ attachmentDelivery: { delivered: 1, fullyDelivered: true } });

      await page.fill('#image [name=prompt]', 'A river');
      await page.click('#image button');
      await page.waitForFunction(`document.querySelector('img')?.naturalWidth > 0`);

      await page.fill('#video [name=prompt]', 'A river');
      await page.click('#video button');
      await page.waitForFunction(`document.querySelector('#video progress')?.value > 0`);
      await page.reload();
      await page.waitForFunction(`document.querySelector('video')?.readyState > 0`);
      expect(await page.textContent('.assistant p')).toBe(answer);
      expect(turns).toHaveLength(1);
      // The balance of a user who is not signed in.
      expect(window.complaints).toEqual([expect.stringContaining('401')]);
    },
  );
});
