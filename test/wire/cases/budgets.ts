import { BUDGETS } from '@questline/core/internal';
import { expect } from 'vitest';
import { MAKERS } from '../../support/owned-resources.ts';
import { NOW, type TestApp } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { badPages, faulted, onePage, refused, type WireCase } from './case.ts';

const LIMIT = { unit: 'credits', amount: 10 };
const BODY = { scope: 'user', name: 'Mine', window: 'month', limit: LIMIT };

const record = (change: object = {}): object => ({
  id: expect.stringMatching(/^[0-9a-f]{24}$/),
  name: 'Mine',
  scope: 'user',
  scopeId: expect.stringMatching(/^[0-9a-f]{24}$/),
  models: null,
  window: 'month',
  timeZone: 'UTC',
  limit: LIMIT,
  action: 'refuse',
  ownKeys: 'count',
  managedBy: 'owner',
  editable: true,
  spent: 0,
  reserved: 0,
  left: 10,
  windowStart: '2026-11-01T00:00:00.000Z',
  windowEnd: '2026-12-01T00:00:00.000Z',
  createdAt: new Date(NOW).toISOString(),
  ...change,
});

const at =
  (body?: object) =>
  async (app: TestApp): Promise<Partial<Asked>> => ({
    path: `/api/budgets/${await MAKERS.budgets?.(app, app.user)}`,
    ...(body !== undefined && { body }),
  });
/** A budget of the caller that administrators manage. */
const managed = async (app: TestApp): Promise<Partial<Asked>> => {
  const id = (await MAKERS.budgets?.(app, app.user)) ?? '';
  await app.services.store.collection(BUDGETS).update(id, { managedBy: 'administrator' });
  return { path: `/api/budgets/${id}`, body: { amount: 20 } };
};
const MANAGED = refused('application', { status: 403, message: 'Administrators manage this budget' });
const DUPLICATE = refused('application', {
  status: 409,
  message: 'A budget for the same calls, unit, window and action exists; change its amount instead',
});

async function addBudget(app: TestApp, change: object): Promise<string> {
  const body = { ...BODY, ...change };
  const answer = await app.ask('POST', '/api/budgets', { credential: await app.token(), body });
  return ((await answer.json()) as { readonly id: string }).id;
}

/** As many budgets as a scope may have. */
async function fill(app: TestApp): Promise<Partial<Asked>> {
  const windows = ['minute', 'hour', 'day', 'week', 'month', 'total'];
  const rules = ['refuse', 'notify'].flatMap((action) =>
    ['credits', 'tokens'].flatMap((unit) =>
      windows.map((window) => ({ action, window, limit: { unit, amount: 5 } })),
    ),
  );
  for (const rule of rules.slice(0, 20)) await addBudget(app, rule);
  return { body: { ...BODY, limit: { unit: 'requests', amount: 5 } } };
}

const NOT_FOUND = refused('application', { status: 404, message: 'Budget not found' });
const UNKNOWN_ID: WireCase = { title: 'answers 404 for an unknown budget', ...NOT_FOUND };

export const listBudgets: readonly WireCase[] = [
  {
    title: 'lists the budgets of the caller with what is spent and reserved',
    ask: async (app) => {
      await MAKERS.budgets?.(app, app.user);
      await MAKERS.budgets?.(app, await app.addUser('grace@example.com'));
      return {};
    },
    status: 200,
    body: { budgets: [record()], pagination: onePage(1) },
    everywhere: true,
  },
  {
    title: 'rejects every budget for a user who is not an administrator',
    ask: { path: '/api/budgets?all=true' },
    ...refused('application', { status: 403, message: 'Administrators only' }),
  },
  {
    title: 'rejects an organization that the caller does not administer',
    ask: { path: `/api/budgets?scope=organization&scopeId=${'a'.repeat(24)}` },
    ...refused('application', { status: 404, message: 'Organization not found' }),
  },
  // The list has neither `sort` nor `search`.
  ...badPages('/api/budgets').slice(0, 3),
];

export const createBudget: readonly WireCase[] = [
  {
    title: 'returns the budget and ignores fields set by the server',
    ask: { body: { ...BODY, managedBy: 'administrator', spent: 5, signature: 'x', userId: 'f'.repeat(24) } },
    status: 201,
    body: record(),
    everywhere: true,
  },
  {
    title: 'rejects a second budget for the same calls, unit and window',
    ask: async (app) => {
      await MAKERS.budgets?.(app, app.user);
      return { body: { ...BODY, limit: { unit: 'credits', amount: 20 } } };
    },
    ...DUPLICATE,
  },
  {
    title: 'rejects one more than 20 budgets of a scope',
    ask: fill,
    ...refused('application', {
      status: 400,
      code: 'BUDGET_CAP',
      message: 'The scope has the maximum of 20 budgets; delete one first',
    }),
    // The calls that made them were counted too.
    headers: { 'x-ratelimit-remaining': '979' },
  },
  {
    title: 'rejects an organization that the caller does not administer',
    ask: { body: { ...BODY, scope: 'organization', scopeId: 'a'.repeat(24) } },
    ...refused('application', { status: 404, message: 'Organization not found' }),
  },
  {
    title: 'rejects everyone for a user who is not an administrator',
    ask: { body: { ...BODY, scope: 'everyone' } },
    ...refused('application', { status: 403, message: 'Administrators only' }),
  },
  {
    title: 'rejects calls at the same time in a window',
    ask: { body: { ...BODY, limit: { unit: 'concurrent', amount: 2 } } },
    ...faulted('window', 'expected total, because concurrent counts calls at the same time'),
  },
];

export const getBudget: readonly WireCase[] = [
  { title: 'returns the budget', ask: at(), status: 200, body: record() },
  UNKNOWN_ID,
];

export const updateBudget: readonly WireCase[] = [
  {
    title: 'changes only the named fields',
    ask: at({ amount: 20, action: 'notify', window: 'day', managedBy: 'administrator' }),
    status: 200,
    body: record({ limit: { unit: 'credits', amount: 20 }, action: 'notify', left: 20 }),
  },
  { ...UNKNOWN_ID, ask: { body: { amount: 1 } } },
  { title: 'rejects a budget of administrators', ask: managed, ...MANAGED },
  {
    title: 'rejects the action of another budget for the same calls',
    ask: async (app) => {
      await MAKERS.budgets?.(app, app.user);
      return {
        path: `/api/budgets/${await addBudget(app, { action: 'notify' })}`,
        body: { action: 'refuse' },
      };
    },
    ...DUPLICATE,
    headers: { 'x-ratelimit-remaining': '998' },
  },
];

export const deleteBudget: readonly WireCase[] = [
  { title: 'deletes the budget', ask: at(), status: 204, body: '' },
  {
    title: 'rejects a budget of administrators',
    ask: async (app) => ({ path: (await managed(app)).path ?? '' }),
    ...MANAGED,
  },
  UNKNOWN_ID,
];
