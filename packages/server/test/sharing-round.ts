import { createUser } from '@questline/core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Window } from './browser.ts';
import type { InProcess } from './in-process.ts';
import { openPage, signUp } from './journey.ts';

const KINDS = ['session', 'project', 'file', 'artifact', 'agent'] as const;
type Kind = (typeof KINDS)[number];

/** One resource of each kind of another user, with the permission of the share. */
const SHARED: Readonly<Record<Kind, { readonly name: string; readonly permission: 'read' | 'write' }>> = {
  session: { name: 'Compiler notes', permission: 'write' },
  project: { name: 'Compilers', permission: 'read' },
  file: { name: 'notes.txt', permission: 'read' },
  artifact: { name: 'Nanoseconds', permission: 'write' },
  agent: { name: 'Translator', permission: 'read' },
};

/** Shared resources are listed with their permission, opened, and left: with the mouse, and once without. */
export async function sharedRound(window: Window, workplace: InProcess): Promise<void> {
  const { page, complaints } = window;
  await signUp(window, workplace);
  await openPage(page, 'Shared with me');
  await page.getByText('Nothing is shared with you.').waitFor();
  await shareEverything(page, workplace);
  await page.reload();
  for (const { name, permission } of Object.values(SHARED)) {
    const words = permission === 'write' ? 'Read and write' : 'Read';
    await row(page, name).getByRole('cell', { name: words, exact: true }).waitFor();
  }

  await page.getByRole('button', { name: 'Open notes.txt' }).waitFor();
  await page.getByRole('link', { name: 'Nanoseconds' }).click();
  const saved = page.waitForResponse((answer) => answer.request().method() === 'PATCH');
  await page.getByLabel('Status').selectOption('Published');
  expect(await (await saved).json()).toMatchObject({ status: 'published' });
  expect(await page.getByLabel('Visibility').count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Share', exact: true }).count()).toBe(0);
  await page.getByRole('link', { name: 'Shared with me' }).first().click();

  // Without a mouse.
  await page.getByRole('button', { name: 'Leave Compiler notes' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Leave “Compiler notes”?' }).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).focus();
  await page.keyboard.press('Enter');
  await row(page, 'Compiler notes').waitFor({ state: 'detached' });

  await page.getByRole('link', { name: 'Compilers' }).click();
  await page.getByRole('heading', { name: 'Compilers', level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { name: 'Shared with me' }).waitFor();
  for (const name of ['notes.txt', 'Nanoseconds', 'Translator']) {
    await page.getByRole('button', { name: `Leave ${name}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
    await row(page, name).waitFor({ state: 'detached' });
  }
  await page.getByText('Nothing is shared with you.').waitFor();
  expect(complaints).toEqual([]);
}

/** The profile, the state of an own artifact, and the files of a data lake. */
export async function ownThingsRound(window: Window, workplace: InProcess): Promise<void> {
  const { page, complaints } = window;
  await signUp(window, workplace);

  await openPage(page, 'Profile');
  await page.getByLabel('Name', { exact: true }).fill('Countess');
  await page.getByLabel('First name').fill('Ada');
  await page.getByLabel('Last name').fill('Lovelace');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  await page.getByRole('link', { name: 'Account' }).getByText('Countess').waitFor();
  await page.reload();
  await page.locator('input[name=lastName][value=Lovelace]').waitFor();
  expect(await page.getByLabel('First name').inputValue()).toBe('Ada');

  const call = await caller(page, workplace.url);
  const artifact = await call('POST', '/api/v1/artifacts', { type: 'code', title: 'Loop', content: 'x' });
  await page.goto(`${workplace.url}/#/artifacts/${artifact.id}`);
  await page.getByLabel('Status').selectOption('Published');
  await page.getByLabel('Visibility').selectOption('Public');
  await page.getByText('Every user of this workspace.').waitFor();
  await expect
    .poll(() => call('GET', `/api/v1/artifacts/${artifact.id}`))
    .toMatchObject({ status: 'published', visibility: 'public' });
  await page.getByRole('link', { name: 'All artifacts' }).click();
  await page.getByRole('link', { name: 'Loop' }).getByText('published').waitFor();

  await call('PUT', '/api/settings/update', { key: 'EnableDataLakes', value: true });
  const { id: userId } = await call('GET', '/api/v1/me');
  const content = Buffer.from('The Danube ends in the Black Sea.');
  await workplace.services.library.save(userId, { name: 'danube.txt', mimeType: 'text/plain', content });
  await call('POST', '/api/v1/data-lakes', { name: 'Rivers' });
  await openPage(page, 'Data lakes');
  await page.getByRole('link', { name: 'Rivers' }).click();
  await page.getByText('No files yet.').waitFor();
  await page.getByRole('button', { name: 'Add a file' }).click();
  await page.getByRole('dialog').getByRole('combobox').selectOption({ label: 'danube.txt' });
  await page.getByRole('button', { name: 'Add file' }).click();
  await row(page, 'danube.txt').getByRole('cell', { name: 'ready' }).waitFor();
  await page.getByRole('button', { name: 'Add a file' }).click();
  await page.getByText('You have no files that can be added.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Remove danube.txt' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('No files yet.').waitFor();
  expect(complaints).toEqual([]);
}

function row(page: Page, name: string) {
  return page.getByRole('row', { name });
}

interface Made {
  readonly id: string;
  readonly _id: string;
}

export type Caller = (method: string, path: string, body?: unknown) => Promise<Made>;

/** Calls the API as the user of the page. @param token default: the token of the page. */
export async function caller(page: Page, url: string, token?: string): Promise<Caller> {
  const bearer = token ?? String(await page.evaluate("localStorage.getItem('questline.token')"));
  return async (method, path, body) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Made;
  };
}

async function shareEverything(page: Page, { url, services }: InProcess): Promise<void> {
  const grace = await createUser(services, { email: 'grace@example.com', username: 'Grace' });
  if (grace === undefined) throw new Error('the second user was not created');
  const { id, tokenVersion } = grace;
  const theirs = await caller(page, url, await services.tokens.sign({ id, tokenVersion, typ: 'access' }));
  const own = await caller(page, url);
  const saved = await services.library.save(id, {
    name: SHARED.file.name,
    mimeType: 'text/plain',
    content: Buffer.from('12345'),
  });
  const make: Readonly<Record<Kind, () => Promise<{ readonly id: string }>>> = {
    session: () => theirs('POST', '/api/v1/sessions', { name: SHARED.session.name }),
    project: () => theirs('POST', '/api/v1/projects', { name: SHARED.project.name, description: 'All.' }),
    file: async () => ({ id: saved.file?.id ?? '' }),
    artifact: () =>
      theirs('POST', '/api/v1/artifacts', { type: 'code', title: SHARED.artifact.name, content: 'x' }),
    agent: () => theirs('POST', '/api/v1/agents', { name: SHARED.agent.name }),
  };
  for (const kind of KINDS) {
    const { id: resource } = await make[kind]();
    const { permission } = SHARED[kind];
    const invite = { email: 'ada@example.com', permission };
    const { _id } = await theirs('POST', `/api/${kind}/${resource}/invites`, invite);
    await own('POST', `/api/invites/${_id}/accept`, {});
  }
}
