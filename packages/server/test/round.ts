import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { hold, type Window } from './browser.ts';
import { openPage, photograph, signUp } from './journey.ts';
import type { Workplace } from './workplaces.ts';

/** Visits every page except chat, keys and usage: creates, finds, changes and deletes a record. */
export async function administratorsRound(window: Window, workplace: Workplace): Promise<void> {
  const { page, complaints } = window;
  await signUp(window, workplace);

  await openPage(page, 'Agents');
  await page.getByRole('button', { name: 'New agent' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Boatman');
  await page.getByLabel('Description').fill('Knows every river.');
  await page.getByLabel('Instructions').fill('Answer in one sentence.');
  await page.getByLabel('Trigger words').fill('@boatman');
  await page.getByRole('button', { name: 'Save' }).click();
  const boatman = page.getByRole('row', { name: 'Boatman' });
  await boatman.getByText('Knows every river.').waitFor();
  await boatman.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Description').fill('Knows every lake.');
  await page.getByRole('button', { name: 'Save' }).click();
  await boatman.getByText('Knows every lake.').waitFor();
  await photograph(page, 'agents');
  await boatman.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No agents yet.').waitFor();

  await openPage(page, 'Settings');
  // The list reloads after one change while the next one is being typed.
  const lakes = page.getByLabel('Data lakes', { exact: true });
  await lakes.waitFor();
  const held = hold(page, 'GET', '**/api/settings');
  await lakes.check();
  const letGo = await held;
  await page.getByLabel('Credits of a new account').fill('25');
  await letGo();
  await page.keyboard.press('Tab');
  await expect
    .poll(() => getSettings(page, workplace.url), { timeout: 60_000, interval: 500 })
    .toMatchObject({ EnableDataLakes: true, defaultFreeCredits: 25 });
  await page.reload();
  await lakes.and(page.locator(':checked')).waitFor();
  await photograph(page, 'settings');

  await openPage(page, 'Files');
  const text = 'The Rhine begins in the Alps and ends in the North Sea.';
  const note = { name: 'rhine.txt', mimeType: 'text/plain', buffer: Buffer.from(text) };
  await page.getByLabel('Files to upload').setInputFiles(note);
  await page.getByRole('row', { name: 'rhine.txt' }).getByRole('cell', { name: 'clean' }).waitFor();

  await openPage(page, 'Data lakes');
  await page.getByRole('button', { name: 'New data lake' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Rivers');
  await page.getByRole('button', { name: 'Create' }).click();
  const lake = page.getByRole('row', { name: 'Rivers' });
  await lake.getByRole('button', { name: 'Add a file' }).click();
  await page.getByRole('dialog').getByRole('combobox').selectOption({ label: 'rhine.txt' });
  await page.getByRole('button', { name: 'Add file' }).click();
  await lake.getByRole('cell', { name: '1', exact: true }).waitFor();
  await lake.getByRole('button', { name: 'Search' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Query').fill('Where does the Rhine begin?');
  // Reading the file takes a moment; a later poll finds it ready.
  await expect
    .poll(
      async () => {
        await dialog.getByRole('button', { name: 'Search' }).click();
        await dialog.locator('.found li, .quiet, .error').first().waitFor();
        return dialog.innerText();
      },
      { timeout: 60_000, interval: 500 },
    )
    .toContain(text);
  await photograph(page, 'data-lake');
  await page.getByRole('button', { name: 'Close' }).click();

  await openPage(page, 'Users');
  await page.getByRole('row', { name: 'ada@example.com' }).getByRole('cell', { name: 'admin' }).waitFor();
  await page.getByRole('row', { name: 'ada@example.com' }).getByRole('button', { name: 'Credits' }).click();
  await page.getByLabel('Credits', { exact: true }).fill('12.5');
  await page.getByLabel('Reason').fill('Invoice 7');
  await page.getByRole('button', { name: 'Grant' }).click();
  await page.getByText(/can spend [\d,.]+ credits now/).waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByLabel('Search users').fill('unknown');
  await page.getByText('No users found.').waitFor();

  await openPage(page, 'Invites');
  await page.getByLabel('Number of invites').fill('2');
  await page.getByRole('button', { name: 'Create invites' }).click();
  const made = page.getByRole('row').filter({ has: page.getByRole('button', { name: 'Delete' }) });
  await made.nth(1).waitFor();
  await expect.poll(() => made.first().locator('code').innerText()).toMatch(/^\w{20}$/);
  await photograph(page, 'invites');
  await made.first().getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect.poll(() => made.count(), { timeout: 60_000 }).toBe(1);
  expect(complaints).toEqual([]);
}

export async function getSettings(page: Page, url: string): Promise<Record<string, unknown>> {
  const token = String(await page.evaluate("localStorage.getItem('questline.token')"));
  const answer = await fetch(`${url}/api/settings`, { headers: { Authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error(`the settings were answered with ${answer.status}`);
  const { settings } = (await answer.json()) as {
    settings: { settingName: string; settingValue: unknown }[];
  };
  return Object.fromEntries(settings.map(({ settingName, settingValue }) => [settingName, settingValue]));
}
