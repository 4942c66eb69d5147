import { createHmac } from 'node:crypto';
import { WEBHOOK_TYPES } from '@questline/core/internal';
import type { WebhookRequest, WebhookSender } from '@questline/core/ports';
import { expect } from 'vitest';
import type { Window } from './browser.ts';
import type { InProcess } from './in-process.ts';
import { openPage, signUp } from './journey.ts';

/** A receiver that answers with a status, and records requests. */
export function createReceiver() {
  const received: WebhookRequest[] = [];
  const receiver = { received, status: 200 };
  const sender: WebhookSender = {
    isAllowed: async (url) => !url.includes('127.0.0.1'),
    async send(request) {
      received.push(request);
      return { outcome: 'answered', status: receiver.status };
    },
  };
  return { receiver, sender };
}

/** Creates a webhook of the user and of an organization, tests, edits, rotates, disables, replays and deletes it. */
export async function webhooksRound(
  window: Window,
  workplace: InProcess,
  receiver: ReturnType<typeof createReceiver>['receiver'],
): Promise<void> {
  const { page, complaints } = window;
  const dialog = page.getByRole('dialog');
  const deliveries = page.getByRole('table', { name: 'Deliveries' }).getByRole('row');
  const refreshUntil = async (text: string): Promise<void> => {
    await expect
      .poll(
        async () => {
          await page.getByRole('button', { name: 'Refresh' }).click();
          return deliveries.filter({ hasText: text }).count();
        },
        { timeout: 60_000, interval: 300 },
      )
      .toBeGreaterThan(0);
  };
  await signUp(window, workplace);
  await openPage(page, 'Organizations');
  await page.getByRole('button', { name: 'New organization' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Compilers');
  await page.getByRole('button', { name: 'Create organization' }).click();
  await page.getByRole('heading', { name: 'Compilers', level: 1 }).waitFor();

  await openPage(page, 'Webhooks');
  await page.getByText('No webhooks yet.').waitFor();
  await page.getByRole('button', { name: 'New webhook' }).click();
  const types = await dialog
    .getByRole('checkbox')
    .evaluateAll((boxes) => boxes.map((box) => (box as unknown as { value: string }).value));
  expect(types).toEqual([...WEBHOOK_TYPES]);
  await page.getByLabel('Address').fill('http://127.0.0.1/in');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await dialog.getByText('expected a public address').waitFor();
  await page.getByLabel('Address').fill('https://hooks.example.com/in');
  await page.getByLabel('Description').fill('My receiver');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  const secret = await dialog.locator('.secret').innerText();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('link', { name: 'https://hooks.example.com/in' }).click();
  await page.getByRole('heading', { name: 'My receiver' }).waitFor();
  await page.getByText('No deliveries.').waitFor();

  await page.getByRole('button', { name: 'Send a test' }).click();
  await refreshUntil('delivered');
  const [first] = receiver.received;
  if (first === undefined) throw new Error('nothing was received');
  expect(first.headers['webhook-signature']).toBe(sign(secret, first));
  expect(JSON.parse(first.body)).toMatchObject({ type: 'webhook.test' });
  await page.getByRole('button', { name: 'Replay' }).click();
  await expect.poll(() => receiver.received.length, { timeout: 60_000 }).toBe(2);
  expect(receiver.received[1]?.headers['webhook-id']).toBe(first.headers['webhook-id']);

  await page.getByRole('button', { name: 'Rotate secret' }).click();
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  const rotated = await dialog.locator('.secret').innerText();
  expect(rotated).toMatch(/^whsec_/);
  expect(rotated).not.toBe(secret);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByText('The previous secret signs until').waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'My receiver' }).waitFor();
  expect(await page.locator('body').innerText()).not.toContain('whsec_');

  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Description').fill('Our receiver');
  await dialog.getByRole('checkbox', { name: 'file.clean' }).uncheck();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Our receiver' }).waitFor();
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByText('disabled by its owner').waitFor();
  expect(await page.getByRole('button', { name: 'Replay' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.getByRole('button', { name: 'Disable' }).waitFor();

  // The receiver answers 410: the webhook is disabled at once.
  receiver.status = 410;
  await page.getByRole('button', { name: 'Send a test' }).click();
  await refreshUntil('410');
  await page.getByLabel('Show deliveries').selectOption('failed');
  await deliveries.filter({ hasText: 'failed' }).first().waitFor();
  await page.reload();
  await page.getByText('the receiver answered with status 410').waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No webhooks yet.').waitFor();

  await page.getByLabel('Owner').selectOption('Compilers');
  await page.getByText('No webhooks yet.').waitFor();
  await page.getByRole('button', { name: 'New webhook' }).click();
  await page.getByLabel('Address').fill('https://org.example.com/in');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await dialog.locator('.secret').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('link', { name: 'https://org.example.com/in' }).waitFor();
  await page.getByLabel('Owner').selectOption('You');
  await page.getByText('No webhooks yet.').waitFor();
  // The browser reports the rejected address.
  expect(complaints.filter((text) => !text.includes('422'))).toEqual([]);
}

/** The signature of the Standard Webhooks. */
function sign(secret: string, { headers, body }: WebhookRequest): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}
