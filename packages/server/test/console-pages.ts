import { createUser } from '@questline/core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Window } from './browser.ts';
import type { InProcess } from './in-process.ts';
import { obstacles, photograph, signUp } from './journey.ts';

/** Every page with its address and heading. */
const PAGES: Readonly<Record<string, string>> = {
  chat: 'How can I help, Ada?',
  projects: 'Projects',
  files: 'Files',
  artifacts: 'Artifacts',
  images: 'Images',
  generations: 'Video and music',
  agents: 'Agents',
  'data-lakes': 'Data lakes',
  shared: 'Shared with me',
  profile: 'Profile',
  usage: 'Usage',
  budgets: 'Budgets',
  'api-keys': 'API keys',
  'provider-keys': 'Provider keys',
  webhooks: 'Webhooks',
  organizations: 'Organizations',
  invitations: 'Invitations',
  settings: 'Settings',
  users: 'Users',
  invites: 'Invites',
  reports: 'Reports',
  audit: 'Audit log',
  'agent-requests': 'Public agents',
};

/** Visits every page with content, in both themes: no accessibility violations, and no overflow. */
export async function everyPage(
  window: Window,
  workplace: InProcess,
  { width }: { readonly width: number },
): Promise<void> {
  const { page, complaints } = window;
  for (const theme of THEMES) {
    await page.goto(workplace.url);
    await page.evaluate(`localStorage.setItem('questline.theme', '${theme}')`);
    await page.reload();
    await page.getByLabel('E-mail address').waitFor();
    await look(page, `${width}-${theme}-sign-in`);
  }
  await signUp(window, workplace);
  const records = await furnish(window, workplace);
  const places = [
    ...Object.entries(PAGES).map(([place, heading]) => ({ place, heading, name: place })),
    ...records,
  ];
  for (const theme of THEMES) {
    await page.evaluate(`localStorage.setItem('questline.theme', '${theme}')`);
    await page.goto(`${workplace.url}/#/chat`);
    await page.reload();
    for (const { place, heading, name } of places) {
      await page.goto(`${workplace.url}/#/${place}`);
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      await photograph(page, `${width}-${theme}-${name}`);
      // Themes differ only in colors.
      const rules = theme === 'dark' ? ['color-contrast'] : undefined;
      expect([theme, name, await obstacles(page, rules)]).toEqual([theme, name, []]);
      expect([name, await page.evaluate(BEYOND)]).toEqual([name, []]);
    }
    for (const { place, button, name } of DIALOGS) {
      await page.goto(`${workplace.url}/#/${place}`);
      await page.getByRole('main').getByRole('button', { name: button, exact: true }).first().click();
      await page.getByRole('dialog').locator('.loading').first().waitFor({ state: 'detached' });
      await look(page, `${width}-${theme}-dialog-${name}`);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
  }
  if (width < 500) await menuRound(window);
  else await accountRound(window, workplace);
  expect(complaints).toEqual([]);
}

const THEMES = ['light', 'dark'] as const;

/** A dialog of each kind: a form, a table, a confirmation. */
const DIALOGS = [
  { place: 'agents', button: 'New agent', name: 'agent' },
  { place: 'api-keys', button: 'New key', name: 'key' },
  { place: 'files', button: 'Share', name: 'share' },
  { place: 'files', button: 'Delete', name: 'question' },
  { place: 'users', button: 'Credits', name: 'credits' },
  { place: 'webhooks', button: 'New webhook', name: 'webhook' },
  { place: 'budgets', button: 'New budget', name: 'budget' },
];

async function look(page: Page, name: string): Promise<void> {
  await photograph(page, name);
  expect([name, await obstacles(page)]).toEqual([name, []]);
}

/** Buttons, links and fields beyond the edge, and the page itself if it scrolls horizontally. */
const BEYOND = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const controls = [...document.querySelectorAll('main a, main button, main input, main select, main textarea, header a, header button')];
  const beyond = controls.filter((one) => {
    if (one.closest('.hidden, .scroll, pre') || one.classList.contains('hidden') || !one.checkVisibility()) return false;
    const { left, right, width } = one.getBoundingClientRect();
    return width > 0 && (left < 0 || right > clientWidth + 1);
  });
  return [...(scrollWidth > clientWidth ? ['the page'] : []), ...beyond.map((one) => one.outerHTML.slice(0, 120))];
})()`;

/** An administrator promotes, demotes and disables an account. */
async function accountRound({ page }: Window, { url }: InProcess): Promise<void> {
  await page.goto(`${url}/#/users`);
  const row = page.getByRole('row', { name: 'grace@example.com' });
  const confirm = async (action: string): Promise<void> => {
    await row.getByRole('button', { name: action }).click();
    await page.getByRole('dialog').getByRole('button', { name: action }).click();
  };
  await confirm('Promote');
  await row.getByRole('cell', { name: 'admin' }).waitFor();
  await confirm('Demote');
  await row.getByRole('cell', { name: 'user' }).waitFor();
  await confirm('Disable');
  await row.getByText('disabled').waitFor();
  await row.getByRole('button', { name: 'Enable' }).click();
  await row.getByRole('button', { name: 'Disable' }).waitFor();
}

/** On a phone the menu is a dialog: it traps the focus, and contains links to every page and sign-out. */
async function menuRound({ page }: Window): Promise<void> {
  await page.getByRole('button', { name: 'Menu' }).click();
  const menu = page.getByRole('dialog', { name: 'Menu' });
  await menu.getByRole('button', { name: 'Sign out' }).waitFor();
  await photograph(page, 'phone-menu');
  expect(await obstacles(page)).toEqual([]);
  for (let stop = 0; stop < 30; stop += 1) await page.keyboard.press('Tab');
  const isInside =
    "document.activeElement === document.body || document.activeElement?.closest('dialog') !== null";
  expect(await page.evaluate(isInside)).toBe(true);
  await page.keyboard.press('Escape');
  await menu.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Menu' }).click();
  await menu.getByRole('link', { name: 'Agents' }).click();
  await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
  await menu.waitFor({ state: 'hidden' });
}

const ANSWER = [
  'Three **rivers**:',
  '',
  '| River | Length |',
  '|---|---:|',
  '| Danube | 2850 km |',
  '',
  '```python',
  'def flows(to: str) -> bool:',
  '    return to == "sea"',
  '```',
].join('\n');

/** Adds content to every page. @returns the pages of single records. */
async function furnish({ page }: Window, { url, services }: InProcess) {
  const token = String(await page.evaluate("localStorage.getItem('questline.token')"));
  const call = async (method: string, path: string, body?: unknown, bearer = token): Promise<Made> => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Made;
  };
  await call('PUT', '/api/settings/update', { key: 'EnableDataLakes', value: true });
  await call('PUT', '/api/settings/update', { key: 'AgentPublishing', value: 'approval' });
  const { id: ada } = await call('GET', '/api/v1/me');
  const grace = await createUser(services, { email: 'grace@example.com', username: 'Grace' });
  if (grace === undefined) throw new Error('the second user was not created');
  const { id, tokenVersion } = grace;
  const other = await services.tokens.sign({ id, tokenVersion, typ: 'access' });
  const { id: agentId } = await call(
    'POST',
    '/api/v1/agents',
    { name: 'Translator', trigger_words: ['@tr'] },
    other,
  );
  await call('PUT', `/api/agents/${agentId}`, { isPublic: true }, other);
  const { _id: teamId } = await call('POST', '/api/organizations', { name: 'Compilers' }, other);
  const invite = { email: 'ada@example.com', permission: 'write' };
  await call('POST', `/api/organization/${teamId}/invites`, invite, other);
  const share = async (type: string, id: string, permission: string): Promise<void> => {
    const { _id } = await call('POST', `/api/${type}/${id}/invites`, { ...invite, permission }, other);
    await call('POST', `/api/invites/${_id}/accept`, {});
  };
  const { id: sharedSession } = await call('POST', '/api/v1/sessions', { name: 'Compiler notes' }, other);
  await share('session', sharedSession, 'write');
  await share('agent', agentId, 'read');
  const { id: sharedArtifact } = await call(
    'POST',
    '/api/v1/artifacts',
    { type: 'code', title: 'Nanoseconds', content: 'for (;;);' },
    other,
  );
  await share('artifact', sharedArtifact, 'read');

  const said = await call('POST', '/api/chat', {
    message: `Compare rivers\n\n${ANSWER}`,
    newConversation: true,
    model: 'demo-echo',
    wait: true,
  });
  await call('POST', '/api/v1/agents', {
    name: 'Bard',
    description: 'Answers in verse.',
    trigger_words: ['@bard'],
  });
  const artifact = await call('POST', '/api/v1/artifacts', {
    type: 'python',
    title: 'Fibonacci',
    content: 'print(1)',
  });
  const project = await call('POST', '/api/v1/projects', {
    name: 'Guide',
    description: 'A book.',
    session_ids: [said.sessionId],
  });
  await call('POST', '/api/v1/files', { file_name: 'rhine.txt', mime_type: 'text/plain', file_size: 10 });
  const lake = await call('POST', '/api/v1/data-lakes', {
    name: 'Rivers',
    description: 'Texts about rivers.',
  });
  const { file } = await services.library.save(ada, {
    name: 'danube.txt',
    mimeType: 'text/plain',
    content: Buffer.from('The Danube ends in the Black Sea.'),
  });
  await call('POST', `/api/v1/data-lakes/${lake.id}/files/${file?.id}`);
  await call('POST', '/api/v1/video-generations', { model: 'demo-video', prompt: 'A river without an end' });
  await call('POST', '/api/user-api-keys', { name: 'laptop', preset: 'full' });
  await call('POST', '/api/api-keys/create', {
    name: 'Own',
    service: 'openai',
    key: 'sk-test-0123456789abcdef',
  });
  const team = await call('POST', '/api/organizations', { name: 'Engines' });
  await call('POST', '/api/reg-invites/create', { multiple: 2 });
  for (const [unit, amount] of [
    ['requests', 5],
    ['credits', 500],
    ['concurrent', 2],
  ] as const) {
    await call('POST', '/api/budgets', {
      scope: 'user',
      limit: { unit, amount },
      ...(unit !== 'concurrent' && { window: 'month' }),
    });
  }
  await spendBudgets(services, ada);
  const hook = await call('POST', '/api/webhooks', {
    url: 'https://hooks.example.com/questline/events',
    description: 'Receiver',
  });
  await call('POST', `/api/webhooks/${hook.id}/test`);
  return [
    { place: `webhooks/${hook.id}`, heading: 'Receiver', name: 'webhook' },
    { place: `chat/${said.sessionId}`, heading: /^Compare rivers/, name: 'conversation' },
    { place: `artifacts/${artifact.id}`, heading: 'Fibonacci', name: 'artifact' },
    { place: `artifacts/${sharedArtifact}`, heading: 'Nanoseconds', name: 'shared-artifact' },
    { place: `data-lakes/${lake.id}`, heading: 'Rivers', name: 'data-lake' },
    { place: `projects/${project.id}`, heading: 'Guide', name: 'project' },
    { place: `organizations/${team._id}`, heading: 'Engines', name: 'organization' },
  ];
}

interface Made {
  readonly id: string;
  readonly _id: string;
  readonly sessionId: string;
}

/** Two settled calls and an open one count against every budget of a user. */
async function spendBudgets(
  { budgets, ledger, clock }: InProcess['services'],
  userId: string,
): Promise<void> {
  const rules = await budgets.rulesFor({ account: `user:${userId}`, userId });
  for (const [key, charged] of [
    ['first', 180_500_000],
    ['second', 60_000_000],
    ['open', undefined],
  ] as const) {
    const caps = rules.map((rule) => ({
      ...{ id: budgets.current(rule).capId, unit: rule.unit, limit: Number.MAX_SAFE_INTEGER },
      amount: rule.unit === 'credits' ? 70_000_000 : 1,
    }));
    const outcome = await ledger.hold({
      ...{
        account: `user:${userId}`,
        amount: 0,
        key: `budget ${key}`,
        expiresAt: clock.now() + 900_000,
        caps,
      },
      ignoresBalance: true,
      details: { operation: 'test' },
    });
    if (outcome.outcome === 'held' && charged !== undefined) await ledger.settle(outcome.hold, charged);
  }
}
