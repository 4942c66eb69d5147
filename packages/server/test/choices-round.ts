import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { hold, type Window } from './browser.ts';
import type { InProcess } from './in-process.ts';
import { openPage, signUp } from './journey.ts';
import { getSettings } from './round.ts';
import { type Caller, caller } from './sharing-round.ts';

const WITHIN = { timeout: 60_000, interval: 200 };

/** Choices that the user makes while an earlier one is being saved. */
export async function choicesRound(window: Window, workplace: InProcess): Promise<void> {
  const { page, complaints } = window;
  await signUp(window, workplace);
  const call = await caller(page, workplace.url);
  await chooseStates(page, workplace, call);
  await changeSettings(page, workplace);
  await addToProject(page, workplace, call);
  await revokeKeys(page, workplace, call);
  expect(complaints).toEqual([]);
  await rejectState(page, workplace, call);
}

async function createArtifact(page: Page, { url }: InProcess, call: Caller): Promise<string> {
  const { id } = await call('POST', '/api/v1/artifacts', { type: 'code', title: 'Loop', content: 'x' });
  await page.goto(`${url}/#/artifacts/${id}`);
  return `/api/v1/artifacts/${id}`;
}

async function chooseStates(page: Page, workplace: InProcess, call: Caller): Promise<void> {
  const path = await createArtifact(page, workplace, call);
  const status = page.getByLabel('Status');
  const held = hold(page, 'PATCH', `**${path}`);
  await status.selectOption('In review');
  const letGo = await held;
  await page.getByLabel('Visibility').selectOption('Public');
  await status.selectOption('Archived');
  await status.selectOption('Published');
  expect(await status.inputValue()).toBe('published');
  // The answer to the first choice arrives and is read again while the last one is being saved.
  const heldLast = hold(page, 'PATCH', `**${path}`);
  await letGo();
  const letLastGo = await heldLast;
  expect(await status.inputValue()).toBe('published');
  expect(await page.getByLabel('Visibility').inputValue()).toBe('public');
  await letLastGo();
  await expect
    .poll(() => call('GET', path), WITHIN)
    .toMatchObject({ status: 'published', visibility: 'public' });
  await page.getByText('Every user of this workspace.').waitFor();
  expect(await status.inputValue()).toBe('published');
}

async function changeSettings(page: Page, { url }: InProcess): Promise<void> {
  await openPage(page, 'Settings');
  const lakes = page.getByLabel('Data lakes', { exact: true });
  const credits = page.getByLabel('Credits of a new account');
  await lakes.waitFor();
  const wasOn = await lakes.isChecked();
  const heldLakes = hold(page, 'PUT', '**/api/settings/update');
  await lakes.setChecked(!wasOn);
  const letLakesGo = await heldLakes;
  await lakes.setChecked(wasOn);
  const heldCredits = hold(page, 'PUT', '**/api/settings/update');
  await credits.fill('25');
  await page.keyboard.press('Enter');
  const letCreditsGo = await heldCredits;
  await credits.fill('26');
  await page.keyboard.press('Enter');
  await letLakesGo();
  await letCreditsGo();
  await expect
    .poll(() => getSettings(page, url), WITHIN)
    .toMatchObject({ EnableDataLakes: wasOn, defaultFreeCredits: 26 });
  expect([await lakes.isChecked(), await credits.inputValue()]).toEqual([wasOn, '26']);
}

async function addToProject(page: Page, { url }: InProcess, call: Caller): Promise<void> {
  const project = await call('POST', '/api/v1/projects', { name: 'Rivers', description: 'All.' });
  const names = ['Rhine', 'Danube'];
  for (const name of names) await call('POST', '/api/v1/sessions', { name });
  await page.goto(`${url}/#/projects/${project.id}`);
  const held = hold(page, 'POST', `**/api/v1/projects/${project.id}/sessions/*`);
  const choice = page.getByLabel('Add a conversation');
  for (const name of names) await choice.selectOption(name);
  await (await held)();
  for (const name of names) await page.getByRole('button', { name: `Remove ${name}` }).waitFor();
}

async function revokeKeys(page: Page, { url }: InProcess, call: Caller): Promise<void> {
  const names = ['first', 'second'];
  for (const name of names) await call('POST', '/api/user-api-keys', { name, scopes: ['ai:chat'] });
  await page.goto(`${url}/#/api-keys`);
  const held = hold(page, 'POST', '**/api/user-api-keys/*/revoke');
  const revoke = (name: string) => page.getByRole('row', { name }).getByRole('button', { name: 'Revoke' });
  for (const name of names) {
    await revoke(name).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  }
  await (await held)();
  for (const name of names) await revoke(name).waitFor({ state: 'detached' });
}

/** The stored value returns when the server rejects the last choice. */
async function rejectState(page: Page, workplace: InProcess, call: Caller): Promise<void> {
  const path = await createArtifact(page, workplace, call);
  const status = page.getByLabel('Status');
  const held = hold(page, 'PATCH', `**${path}`);
  await status.selectOption('In review');
  const letGo = await held;
  await page.route(`**${path}`, (route) =>
    route.request().postDataJSON()?.status === 'archived' ? route.abort() : route.fallback(),
  );
  await status.selectOption('Archived');
  expect(await status.inputValue()).toBe('archived');
  await letGo();
  await page.getByRole('alert').waitFor();
  await expect.poll(() => status.inputValue(), WITHIN).toBe('review');
  expect(await call('GET', path)).toMatchObject({ status: 'review' });
}
