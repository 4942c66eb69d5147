import { createDemoProvider } from '@questline/core';
import type { ModelProvider } from '@questline/core/ports';
import { createDemoMedia } from '@questline/demo-media';
import { expect } from 'vitest';
import type { Window } from './browser.ts';
import { obstacles, openPage, photograph, signUp } from './journey.ts';
import type { Workplace } from './workplaces.ts';

/** Videos are done at once, except for those without an end. */
export function videoModels(): ModelProvider {
  const demo = createDemoProvider({ media: createDemoMedia() });
  const { video } = demo;
  if (video === undefined) throw new Error('the demo makes no videos');
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

/** Creates, polls and plays one video, and cancels another one. */
export async function filmsRound(window: Window, workplace: Pick<Workplace, 'url' | 'code'>): Promise<void> {
  const { page, complaints } = window;
  await signUp(window, workplace);
  await openPage(page, 'Video and music');
  await page.getByText('No jobs yet.').waitFor();
  const ask = async (prompt: string): Promise<void> => {
    await page.getByLabel('Prompt').fill(prompt);
    await page.getByRole('button', { name: 'Generate' }).click();
  };

  await ask('A river without an end');
  const endless = page.getByRole('row', { name: 'A river without an end' });
  await endless.getByRole('progressbar').waitFor();
  await ask('A river at dawn');
  const dawn = page.getByRole('row', { name: 'A river at dawn' });
  await dawn.getByRole('button', { name: 'Play' }).click();
  const video = page.getByRole('dialog').locator('video');
  await video.waitFor();
  await expect
    .poll(() => video.evaluate((video: { duration: number }) => video.duration), { timeout: 60_000 })
    .toBeCloseTo(4);
  await photograph(page, 'videos');
  expect(await obstacles(page)).toEqual([]);
  await page.getByRole('button', { name: 'Close' }).click();

  await endless.getByRole('button', { name: 'Cancel' }).click();
  await endless.getByRole('cell', { name: /^cancelled/ }).waitFor();
  await endless.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' });
  // An unknown address redirects to the chat.
  await page.goto(`${workplace.url}/#/%`);
  await page.getByLabel('Message').waitFor();
  expect(complaints).toEqual([]);
}
