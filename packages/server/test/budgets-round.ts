import { readFileSync } from 'node:fs';
import { BUDGETS } from '@questline/core/internal';
import { expect } from 'vitest';
import type { Window } from './browser.ts';
import type { InProcess } from './in-process.ts';
import { openPage, signUp } from './journey.ts';

/** Creates budgets of the user, an organization and everyone; changes and deletes one, and meets refusals. */
export async function budgetsRound(window: Window, workplace: InProcess): Promise<void> {
  const { page, complaints } = window;
  const dialog = page.getByRole('dialog');
  const card = (name: string) => page.getByRole('article', { name });
  const create = async (name: string): Promise<void> => {
    await page.getByLabel('Name', { exact: true }).fill(name);
    await dialog.getByRole('button', { name: 'Create budget' }).click();
  };
  await signUp(window, workplace);
  await openPage(page, 'Organizations');
  await page.getByRole('button', { name: 'New organization' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Compilers');
  await page.getByRole('button', { name: 'Create organization' }).click();
  await page.getByRole('heading', { name: 'Compilers', level: 1 }).waitFor();
  await exportCredits(window, workplace);
  await limitModels(window);

  await openPage(page, 'Budgets');
  await page.getByText('No budgets yet.').waitFor();
  await page.getByRole('button', { name: 'New budget' }).click();
  await page.getByLabel('Limit of').selectOption('requests');
  await page.getByLabel('Amount (requests)').fill('4');
  await create('My month');
  await card('My month').getByText('4 left of 4 requests').waitFor();
  await card('My month').getByText('You · all models').waitFor();

  // What calls spend and reserve is shown apart.
  const { budgets, ledger, clock, store } = workplace.services;
  const [rule] = await budgets.rulesFor({ account: 'user:x', userId: await getUserId(window) });
  if (rule === undefined) throw new Error('no budget');
  const { capId } = budgets.current(rule);
  for (const key of ['settled', 'open']) {
    const outcome = await ledger.hold({
      ...{ account: `user:${rule.userId}`, amount: 0, key, expiresAt: clock.now() + 900_000 },
      caps: [{ id: capId, unit: 'requests', amount: 1, limit: rule.amount }],
      details: { operation: 'test' },
    });
    if (outcome.outcome !== 'held') throw new Error(outcome.outcome);
    if (key === 'settled') await ledger.settle(outcome.hold, 0);
  }
  await page.reload();
  await card('My month').getByText('2 left of 4 requests').waitFor();
  expect(await card('My month').getByRole('list').innerText()).toMatch(/1 spent\s+1 reserved/);

  // A second one for the same calls is refused in plain words.
  await page.getByRole('button', { name: 'New budget' }).click();
  await page.getByLabel('Limit of').selectOption('requests');
  await page.getByLabel('Amount (requests)').fill('9');
  await create('Twice');
  await dialog.getByText('exists; change its amount instead').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();

  await page.getByRole('button', { name: 'Change My month' }).click();
  await page.getByLabel('Amount (requests)').fill('2');
  await page.getByLabel('Name', { exact: true }).fill('Our month');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await card('Our month').getByText('limit reached: calls are refused').waitFor();
  await page.getByRole('button', { name: 'Change Our month' }).click();
  await page.getByLabel('Above the limit').selectOption('notify');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await card('Our month').getByText('Calls above it are made and reported.').waitFor();

  await page.getByLabel('Show').selectOption('Compilers');
  await page.getByText('No budgets yet.').waitFor();
  await page.getByRole('button', { name: 'New budget' }).click();
  await page.getByLabel('Amount (credits)').fill('12.5');
  await create('Team month');
  await card('Team month').getByText('12.5 left of 12.5 credits').waitFor();
  await card('Team month').getByText('Organization Compilers').waitFor();

  await page.getByLabel('Show').selectOption('All');
  await card('Our month').waitFor();
  await page.getByRole('button', { name: 'New budget' }).click();
  await page.getByLabel('Calls of').selectOption('everyone');
  await page.getByLabel('Limit of').selectOption('concurrent');
  await page.getByLabel('Amount (requests at the same time)').fill('50');
  await create('All at once');
  await card('All at once').getByText('Counts running calls.').waitFor();
  await page.getByRole('button', { name: 'Delete Our month' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await card('Our month').waitFor({ state: 'detached' });
  expect(await page.getByRole('article').count()).toBe(2);
  expect(await store.collection(BUDGETS).count({})).toBe(2);
  // The browser reports the refusal.
  expect(complaints.filter((text) => !text.includes('409'))).toEqual([]);
}

async function getUserId({ page }: Window): Promise<string> {
  const id = await page.evaluate(
    "fetch('/api/v1/me', { headers: { Authorization: 'Bearer ' + localStorage.getItem('questline.token') } }).then((answer) => answer.json()).then(({ id }) => id)",
  );
  return String(id);
}

/** The owner of an organization sees what it paid, and saves its grants and charges. */
async function exportCredits({ page }: Window, { services }: InProcess): Promise<void> {
  const id = page.url().split('/').at(-1) ?? '';
  const account = `organization:${id}`;
  await services.ledger.grant({ account, amount: 9_000_000, key: 'payment', reason: 'An invoice' });
  await services.ledger.record({
    account,
    key: 'call',
    details: { operation: 'test', model: 'demo-chat', userId: 'x' },
    usage: { input: 20, output: 10 },
  });
  await page.reload();
  await page.getByText('Available credits').waitFor();
  expect(await page.locator('.figures').innerText()).toMatch(/Available credits\s+9\s+Reserved.*\s+0/);
  await page.getByRole('heading', { name: 'What it paid' }).waitFor();
  await page.getByRole('table', { name: 'Usage by day' }).getByText('30').first().waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export grants and charges' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`credits-${id}.csv`);
  expect(readFileSync(await download.path(), 'utf8')).toContain('An invoice');
}

/** The owner limits the models of the organization, sees the choice again and removes it. */
async function limitModels({ page }: Window): Promise<void> {
  const dialog = page.getByRole('dialog');
  const save = async (): Promise<unknown> => {
    const saved = page.waitForResponse((answer) => answer.request().method() === 'PATCH');
    await dialog.getByRole('button', { name: 'Save' }).click();
    const answer = await (await saved).json();
    await dialog.waitFor({ state: 'detached' });
    return answer.models;
  };
  await page.getByRole('button', { name: 'Change' }).click();
  await dialog.getByText('Only some models').click();
  await dialog.getByRole('checkbox').first().check();
  expect(await save()).toEqual([expect.any(String)]);
  await page.getByRole('button', { name: 'Change' }).click();
  await dialog.locator('input:checked').uncheck();
  expect(await save()).toBeNull();
}
