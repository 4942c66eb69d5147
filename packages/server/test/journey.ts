import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Script, ScriptSource } from '@questline/testing/upstreams';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { openWindow, type Window } from './browser.ts';
import { picture } from './picture.ts';
import type { Workplace } from './workplaces.ts';

export const root = join(import.meta.dirname, '../../..');
const pictures = join(root, 'test-results', 'console');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const EMAIL = 'ada@example.com';
export const DESKTOP = { width: 1200, height: 800 };
const SIZE = { width: 320, height: 200 };

/** Serious accessibility violations of the page. */
export async function obstacles(page: Page, rules?: readonly string[]): Promise<string[]> {
  const options = { resultTypes: ['violations'], ...(rules !== undefined && { runOnly: rules }) };
  const check = `axe.run(document, ${JSON.stringify(options)})`;
  // The script is large: each document loads it once.
  const found =
    (await page.evaluate(`globalThis.axe && ${check}`)) ??
    (await page.evaluate(`(() => { ${axe}; return ${check}; })()`));
  const { violations } = found as {
    violations: { id: string; impact: string; nodes: { html: string }[] }[];
  };
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** Takes a screenshot for manual review, if `QUESTLINE_TEST_SCREENSHOTS` is set: each costs as much as a check of the page. */
export async function photograph(page: Page, name: string): Promise<void> {
  if (process.env.QUESTLINE_TEST_SCREENSHOTS) await savePicture(page, name);
}

async function savePicture(page: Page, name: string): Promise<void> {
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`) });
}

/** Performs actions in a new window, and reports the state of the page and the server on failure. */
export async function inWindow(
  size: { width: number; height: number },
  { running }: { readonly running: Pick<Workplace['running'], 'output'> },
  work: (window: Window) => Promise<void>,
): Promise<void> {
  const window = await openWindow(size);
  try {
    await work(window);
  } catch (cause) {
    const { page, complaints } = window;
    const text = await page
      .locator('body')
      .innerText({ timeout: 5000 })
      .catch(() => '(nothing to read)');
    await savePicture(page, 'failed').catch(() => undefined);
    const log = running.output().split('\n').slice(-40).join('\n');
    const reported = `at ${page.url()} the page shows:\n${text}\n\nit complained: ${complaints.join('; ')}\n\nthe server wrote:\n${log}`;
    throw new Error(`${String(cause)}\n\n${reported}`, { cause });
  } finally {
    await window.close();
  }
}

/** Signs a new user up, from the address bar to the workspace. */
export async function signUp(
  { page }: Window,
  { url, code, running }: Pick<Workplace, 'url' | 'code'> & Partial<Pick<Workplace, 'running'>>,
): Promise<void> {
  await page.goto(url);
  await page.getByLabel('E-mail address').fill(EMAIL);
  await page.getByRole('button', { name: 'Send code' }).click();
  await page.getByLabel('Code', { exact: true }).fill(await code(EMAIL));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Your name').fill('Ada');
  const [, setupCode] = /needs this setup code:\s+(\S+)/.exec(running?.output() ?? '') ?? [];
  if (setupCode !== undefined) await page.getByLabel('Invite code').fill(setupCode);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByLabel('Message').waitFor();
}

/**
 * Models that answer about rivers, hold the first answer in the middle until released, and generate images on
 * request.
 */
export function riverModels(): { readonly script: ScriptSource; finishFirst(): void } {
  let finishFirst = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    finishFirst = resolve;
  });
  return {
    script({ body }) {
      // Requests other than chat have neither.
      const { input = [] } = body as { input?: readonly { type?: string; content?: unknown }[] };
      const last = input.at(-1);
      if (last?.type === 'function_call_output') return { steps: [{ text: 'Here they are.' }] };
      if (JSON.stringify(last ?? '').includes('Draw')) return { steps: DRAWING };
      return { steps: [{ text: 'A **river** ' }, { wait: held }, { text: 'flows to the sea.' }] };
    },
    finishFirst: () => finishFirst(),
  };
}

const DRAWING: NonNullable<Script['steps']> = [
  {
    tool: 'create_chart',
    id: 'call_1',
    arguments: [
      JSON.stringify({
        title: 'Rivers of Europe',
        kind: 'bar',
        x: 'river',
        series: ['kilometres'],
        data: [
          { river: 'Volga', kilometres: 3530 },
          { river: 'Danube', kilometres: 2850 },
          { river: 'Rhine', kilometres: 1230 },
          { river: 'Loire', kilometres: 1012 },
        ],
      }),
    ],
  },
  {
    tool: 'create_diagram',
    id: 'call_2',
    arguments: [
      JSON.stringify({
        title: 'From rain to sea',
        source:
          'flowchart LR\n  A([Rain]) --> B{Soaks in?}\n  B -- yes --> C[Spring]\n  B -- no --> D[Stream]\n  C --> D --> E((Sea))',
      }),
    ],
  },
];

/**
 * The path of a new user who becomes the administrator of an empty workspace: from the code to a streamed
 * answer, a key, a file and the usage.
 */
export async function newcomersJourney(
  window: Window,
  workplace: Workplace,
  finishAnswer: () => void,
  name: string,
): Promise<void> {
  const { page, complaints, asked } = window;
  const { url } = workplace;
  const look = async (place: string): Promise<void> => {
    await photograph(page, `${name}-${place}`);
    expect([place, await obstacles(page)]).toEqual([place, []]);
  };

  await signUp(window, workplace);
  // The first account administers the workspace.
  await page.getByRole('link', { name: 'Administration' }).waitFor();
  await look('new');

  await page.getByLabel('Model', { exact: true }).selectOption({ index: 1 });
  await page.getByLabel('Message').fill('What does a river do?');
  await page.keyboard.press('Enter');
  const answer = page.locator('.message.assistant');
  await answer.getByText('A river').waitFor();
  expect(await answer.textContent()).not.toContain('flows');
  await look('streaming');
  finishAnswer();
  await answer.getByText('flows to the sea.').waitFor();
  expect(await answer.locator('strong').textContent()).toBe('river');
  // The conversation has its own address, which can be opened again.
  await page.waitForURL(/#\/chat\/[0-9a-f]{24}$/);
  await page.reload();
  await page.locator('.message.assistant').getByText('flows to the sea.').waitFor();
  await look('chat');
  const conversation = new URL(page.url()).hash;

  await page.getByLabel('Tools').check();
  await page.getByLabel('Message').fill('Draw a chart and a diagram of the rivers of Europe.');
  await page.keyboard.press('Enter');
  await answer.getByText('Here they are.').waitFor();
  await page.getByRole('img', { name: 'bar chart: Rivers of Europe' }).locator('rect').nth(3).waitFor();
  await page.getByRole('img', { name: 'From rain to sea', exact: true }).waitFor();
  await look('drawings');
  // The generated image is part of the conversation.
  await page.reload();
  await page.getByRole('img', { name: 'bar chart: Rivers of Europe' }).waitFor();

  await openPage(page, 'API keys');
  await page.getByRole('button', { name: 'New key' }).click();
  await page.getByLabel('Name', { exact: true }).fill('laptop');
  await page.getByLabel('Permissions').selectOption('full');
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = (await page.locator('.secret').textContent()) ?? '';
  await look('key');
  expect(await whoHas(key, url)).toEqual([200, 'Ada']);
  await page.getByRole('button', { name: 'Close' }).click();
  await page.locator('.secret').waitFor({ state: 'detached' });
  expect(await page.content()).not.toContain(key);

  const bytes = picture(SIZE.width, SIZE.height);
  await uploadPicture(page, 'river.png', bytes);
  await expectKept(workplace, bytes);
  await openPicture(page, 'river.png');
  await look('picture');
  await page.getByRole('button', { name: 'Close' }).click();
  await look('files');

  await openPage(page, 'Usage');
  await page.getByRole('cell', { name: 'sendChatMessage' }).first().waitFor();
  await look('usage');

  // The page stores only the token and the theme, and only in local storage.
  const token = await assertKeptByPage(page);
  expect([...asked]).toEqual([url]);

  if (workplace.another !== undefined) {
    const other = await workplace.another();
    await inWindow(DESKTOP, other, async (elsewhere) => {
      await continueElsewhere(elsewhere, other.url, token, conversation);
      expect(await whoHas(key, other.url)).toEqual([200, 'Ada']);
      await expectKept(workplace, picture(100, 100));
      expect([...elsewhere.asked].sort()).toEqual([other.url, ...other.origins].sort());
      expect(elsewhere.complaints).toEqual([]);
    });
  }

  expect(complaints).toEqual([]);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('E-mail address').waitFor();
  expect(await page.evaluate("localStorage.getItem('questline.token')")).toBeNull();
}

/** Uses the keyboard only. */
export async function keyboardJourney({ page }: Window, { url, code }: Workplace): Promise<void> {
  const { keyboard } = page;
  await page.goto(url);
  // The next field already has the focus.
  await focusOn(page, page.getByLabel('E-mail address'));
  await keyboard.type(EMAIL);
  await keyboard.press('Enter');
  await focusOn(page, page.getByLabel('Code', { exact: true }));
  await keyboard.type(await code(EMAIL));
  await keyboard.press('Enter');
  await focusOn(page, page.getByLabel('Your name'));
  await keyboard.type('Ada');
  await keyboard.press('Enter');

  await page.getByLabel('Message').waitFor();
  // The composer has the initial focus, and the skip link leads back to it.
  await page.reload();
  await focusOn(page, page.getByLabel('Message'));
  await page.getByRole('button', { name: 'Skip to content' }).focus();
  await keyboard.press('Enter');
  await focusOn(page, page.getByLabel('Message'));
  await keyboard.type('What does a river do?');
  await keyboard.press('Enter');
  await page.locator('.message.assistant').getByText('flows to the sea.').waitFor();

  await tabTo(page, page.getByRole('link', { name: /^Account/ }));
  await keyboard.press('Enter');
  await tabTo(page, page.getByRole('link', { name: 'API keys' }));
  await keyboard.press('Enter');
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  await tabTo(page, page.getByRole('button', { name: 'New key' }));
  await keyboard.press('Enter');
  await tabTo(page, page.getByLabel('Name', { exact: true }));
  await keyboard.type('laptop');
  await keyboard.press('Enter');
  await page.locator('.secret').waitFor();
  await keyboard.press('Escape');
  await page
    .getByRole('cell', { name: 'laptop' })
    .or(page.getByRole('rowheader', { name: 'laptop' }))
    .waitFor();
}

/** The pages behind an entry of the sidebar. */
const GROUPS: Readonly<Record<string, string>> = {
  Profile: 'Account',
  Usage: 'Account',
  'API keys': 'Account',
  'Provider keys': 'Account',
  Organizations: 'Account',
  Invitations: 'Account',
  Settings: 'Administration',
  Users: 'Administration',
  Invites: 'Administration',
  'Public agents': 'Administration',
  Reports: 'Administration',
  'Audit log': 'Administration',
};

/** Opens a page like a user: through the sidebar and the tabs of its group. */
export async function openPage(page: Page, name: string): Promise<void> {
  const group = GROUPS[name];
  if (group !== undefined) await page.getByRole('link', { name: new RegExp(`^${group}`) }).click();
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
}

/** More than the focusable elements of any page. */
const MAX_STOPS = 60;

async function tabTo(page: Page, wanted: Locator): Promise<void> {
  await wanted.waitFor();
  for (let stop = 0; stop < MAX_STOPS; stop += 1) {
    if (await hasFocus(wanted)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not reach ${wanted}`);
}

async function focusOn(page: Page, wanted: Locator): Promise<void> {
  await wanted.waitFor();
  await expect
    .poll(() => hasFocus(wanted), { timeout: 60_000, message: `${wanted} has no focus at ${page.url()}` })
    .toBe(true);
}

async function hasFocus(wanted: Locator): Promise<boolean> {
  return (await wanted.and(wanted.page().locator(':focus')).count()) === 1;
}

/**
 * Continues the same session at another process: messages and uploads are available, and new ones can be
 * added.
 */
async function continueElsewhere(
  { page }: Window,
  url: string,
  token: string,
  conversation: string,
): Promise<void> {
  await page.goto(url);
  await page.evaluate(`localStorage.setItem('questline.token', ${JSON.stringify(token)})`);
  await page.goto(`${url}/${conversation}`);
  await page.reload();
  await page.locator('.message.assistant').getByText('flows to the sea.').waitFor();
  await page.getByLabel('Message').fill('And what does a lake do?');
  await page.keyboard.press('Enter');
  await page.locator('.message.assistant').getByText('flows to the sea.').nth(1).waitFor();
  await page.getByRole('link', { name: 'Files' }).click();
  await openPicture(page, 'river.png');
  await page.getByRole('button', { name: 'Close' }).click();
  await uploadPicture(page, 'lake.png', picture(100, 100));
}

async function uploadPicture(page: Page, name: string, buffer: Buffer): Promise<void> {
  await page.getByRole('link', { name: 'Files' }).click();
  await page.getByLabel('Files to upload').setInputFiles({ name, mimeType: 'image/png', buffer });
  await page.getByRole('row', { name }).getByRole('cell', { name: 'clean' }).waitFor();
}

async function openPicture(page: Page, name: string): Promise<void> {
  await page.getByRole('row', { name }).getByRole('button', { name: 'Open' }).click();
  const shown = page.getByRole('dialog').getByRole('img', { name });
  await shown.waitFor();
  const width = () => page.evaluate("document.querySelector('dialog img')?.naturalWidth");
  await expect.poll(width, { timeout: 60_000 }).toBe(SIZE.width);
}

/** Exactly one object: the upload object is removed afterwards. */
async function expectKept({ getKeepers }: Workplace, bytes: Buffer): Promise<void> {
  await expect.poll(async () => (await getKeepers(bytes)).length, { timeout: 60_000 }).toBe(1);
}

async function whoHas(key: string, url: string): Promise<[number, unknown]> {
  const answer = await fetch(`${url}/api/v1/me`, { headers: { Authorization: `Bearer ${key}` } });
  const { name } = (await answer.json()) as { name?: unknown };
  return [answer.status, name];
}

/** @returns the token. */
async function assertKeptByPage(page: Page): Promise<string> {
  const kept = await page.evaluate(`(async () => ({
    local: { ...localStorage },
    others: [...Object.keys(sessionStorage), document.cookie, ...(await indexedDB.databases()).map(({ name }) => name)],
  }))()`);
  const { local, others } = kept as { local: Record<string, string>; others: string[] };
  expect(Object.keys(local).sort()).toEqual(['questline.theme', 'questline.token']);
  expect(others).toEqual(['']);
  const token = local['questline.token'] ?? '';
  expect(token).not.toBe('');
  expect(await page.content()).not.toContain(token);
  expect(page.url()).not.toContain(token);
  return token;
}
