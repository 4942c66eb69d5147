import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createConsole } from '@questline/console';
import {
  createApi,
  createDemoProvider,
  createServices,
  type ModelProvider,
  toNodeListener,
} from '@questline/core';
import { createMemoryMailer, createMemoryPorts } from '@questline/core/memory';
import { expect, onTestFinished } from 'vitest';
import type { Window } from './browser.ts';
import { obstacles, photograph, signUp } from './journey.ts';
import type { Workplace } from './workplaces.ts';

/**
 * In this process, until the test ends: without a key to encrypt with, and films are done at once, but for those without
 * an end.
 */
export async function inThisProcess(): Promise<Pick<Workplace, 'url' | 'code'>> {
  const mailer = createMemoryMailer();
  const services = createServices(
    { ...createMemoryPorts(), models: [filmModels()], mailer },
    { jwtSecret: 'a'.repeat(64), admin: { enforceCredits: false }, generations: { pollMs: 100 } },
  );
  const [api, page] = [createApi(services), createConsole()];
  const server = createServer(
    toNodeListener({ handle: async (request) => (await api.handle(request)) ?? page.handle(request) }),
  );
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  await api.start();
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await api.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async code(email) {
      const find = () => mailer.sent.findLast(({ to }) => to === email);
      await expect.poll(find, { timeout: 120_000 }).toBeDefined();
      return /is (\d{6})\./.exec(find()?.text ?? '')?.[1] ?? '';
    },
  };
}

function filmModels(): ModelProvider {
  const demo = createDemoProvider();
  const { video } = demo;
  if (video === undefined) throw new Error('the demo makes no films');
  return {
    ...demo,
    video: {
      ...video,
      submit: async (request, options) =>
        request.prompt.includes('without an end') ? 'endless' : video.submit(request, options),
      poll: async (jobId, options) =>
        jobId === 'endless' ? { state: 'running', progress: 0.5 } : video.poll(jobId, options),
    },
  };
}

/** One film is asked for, watched and played; another one is cancelled while it is made. */
export async function filmsRound(window: Window, workplace: Pick<Workplace, 'url' | 'code'>): Promise<void> {
  const { page, complaints } = window;
  await signUp(window, workplace);
  await page.getByRole('link', { name: 'Films and music', exact: true }).click();
  await page.getByText('Nothing yet.').waitFor();
  const ask = async (prompt: string): Promise<void> => {
    await page.getByLabel('What it is to be').fill(prompt);
    await page.getByRole('button', { name: 'Make it' }).click();
  };

  await ask('A river without an end');
  const endless = page.getByRole('row', { name: 'A river without an end' });
  await endless.getByRole('progressbar').waitFor();
  await ask('A river at dawn');
  const dawn = page.getByRole('row', { name: 'A river at dawn' });
  await dawn.getByRole('button', { name: 'Play' }).click();
  const film = page.getByRole('dialog').locator('video');
  await film.waitFor();
  await expect
    .poll(() => film.evaluate((video: { duration: number }) => video.duration), { timeout: 60_000 })
    .toBeCloseTo(4);
  await photograph(page, 'films');
  expect(await obstacles(page)).toEqual([]);
  await page.getByRole('button', { name: 'Close' }).click();

  await endless.getByRole('button', { name: 'Cancel' }).click();
  await endless.getByRole('cell', { name: /^cancelled/ }).waitFor();
  await endless.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' });
  // An address that nothing is at leads to the chat.
  await page.goto(`${workplace.url}/#/%`);
  await page.getByLabel('Message').waitFor();
  expect(complaints).toEqual([]);
}
