import { expect } from 'vitest';
import type { Window } from './browser.ts';
import type { InProcess } from './in-process.ts';
import { obstacles, photograph } from './journey.ts';

const CLIENT_ID = 'questline-cli';
const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

interface Codes {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri_complete: string;
}

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** A program signs in: its user opens the page, registers there, and approves. A second request is denied. */
export async function deviceRound(window: Window, workplace: InProcess): Promise<void> {
  const { page, complaints } = window;
  const post = async <T>(path: string, body: object): Promise<{ status: number; body: T }> => {
    const answer = await fetch(`${workplace.url}/api/oauth/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'User-Agent': 'questline-cli/1.0 (tests)' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as T };
  };
  const initiate = async () => (await post<Codes>('device/initiate', { client_id: CLIENT_ID })).body;
  const poll = ({ device_code }: Codes) =>
    post<Tokens & { readonly error?: string }>('device/token', {
      grant_type: GRANT,
      device_code,
      client_id: CLIENT_ID,
    });

  const codes = await initiate();
  expect(await poll(codes)).toMatchObject({ status: 400, body: { error: 'authorization_pending' } });
  await page.goto(codes.verification_uri_complete);
  // Without an account: the code is kept during the registration.
  await page.getByLabel('E-mail address').fill('ada@example.com');
  await page.getByRole('button', { name: 'Send code' }).click();
  await page.getByLabel('Code', { exact: true }).fill(await workplace.code('ada@example.com'));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Your name').fill('Ada');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Sign in a device' }).waitFor();
  expect(await page.getByLabel('Code', { exact: true }).inputValue()).toBe(codes.user_code);
  await page.getByRole('button', { name: 'Continue' }).click();
  const request = page.getByRole('region', { name: 'Request' });
  for (const fact of [codes.user_code, CLIENT_ID, 'questline-cli/1.0 (tests)', '127.0.0.1']) {
    await request.getByText(fact, { exact: true }).waitFor();
  }
  expect(await obstacles(page)).toEqual([]);
  await photograph(page, 'device');
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('The device is signed in.').waitFor();

  const { status, body } = await poll(codes);
  expect(status).toBe(200);
  const renewed = await post<Tokens>('refresh', {
    grant_type: 'refresh_token',
    refresh_token: body.refresh_token,
    client_id: CLIENT_ID,
  });
  expect(renewed.status).toBe(200);
  const who = await fetch(`${workplace.url}/api/identify`, {
    headers: { Authorization: `Bearer ${renewed.body.access_token}` },
  });
  expect(await who.json()).toMatchObject({ user: { email: 'ada@example.com' } });

  const second = await initiate();
  await page.goto(second.verification_uri_complete);
  await page.reload();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Deny' }).click();
  await page.getByText('The device was refused.').waitFor();
  expect(await poll(second)).toMatchObject({ status: 403, body: { error: 'access_denied' } });
  expect(complaints).toEqual([]);
}
