import { expect } from 'vitest';
import type { Window } from './browser.ts';
import { signUp } from './journey.ts';
import type { Workplace } from './workplaces.ts';

/** Rejects the call of one turn, and approves that of the next. @param sent what the tool has done. */
export async function approvalsRound(
  window: Window,
  workplace: Pick<Workplace, 'url' | 'code'>,
  sent: readonly unknown[],
): Promise<void> {
  const { page, complaints } = window;
  await signUp(window, workplace);
  const message = page.getByLabel('Message');
  const waiting = page.getByRole('list', { name: 'Waiting tool calls' });
  const answers = page.getByRole('button', { name: 'Copy answer' });
  await page.getByLabel('Tools').check();
  await message.fill('Send a mail to Bob.');
  await page.keyboard.press('Enter');
  await waiting.getByText('send_mail').waitFor();
  await waiting.getByText('bob@example.com').waitFor();
  await waiting.getByRole('button', { name: 'Reject' }).click();
  await answers.first().waitFor();
  expect(sent).toEqual([]);
  await message.fill('Send the mail now.');
  await page.keyboard.press('Enter');
  await waiting.getByRole('button', { name: 'Approve' }).click();
  await answers.nth(1).waitFor();
  expect(sent).toMatchObject([{ to: 'bob@example.com' }]);
  expect(await waiting.count()).toBe(0);
  expect(complaints).toEqual([]);
}
