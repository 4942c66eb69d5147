import { SESSIONS } from '@questline/core/internal';
import type { CreditLedger } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';
import { createScriptedProvider, type ModelCall } from '../support/model.ts';
import { MAKERS } from '../support/owned-resources.ts';
import { addOrganization } from '../support/people.ts';
import { adminToken } from '../support/sign-in.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/test-app.ts';

// A reservation of exactly 1 credit and 100 tokens.
const ONE_CREDIT = {
  model: 'scripted',
  messages: [{ role: 'user', content: '0123456789' }],
  options: { maxTokens: 96 },
};

/** Answers at once, and uses half a credit: 4 and 46 tokens. */
function answering(call: ModelCall): void {
  call.say(
    { type: 'text', text: 'yes' },
    { type: 'usage', usage: { input: 4, output: 46 } },
    { type: 'finish', reason: 'stop' },
  );
  call.end();
}

async function setUp(options: TestAppOptions = {}) {
  const model = createScriptedProvider(answering);
  const key = { requestsPerMinute: 10_000, requestsPerDay: 10_000 };
  const app = await createTestApp({ models: [model], credits: 1000, ...options, key });
  const complete = async () => {
    const response = await app.ask('POST', '/api/ai/v1/completions', { body: ONE_CREDIT });
    return { status: response.status, text: await response.text() };
  };
  return { app, model, complete };
}

async function send(app: TestApp, credential: string, method: string, path: string, body?: object) {
  const response = await app.ask(method, path, { credential, ...(body !== undefined && { body }) });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

const MONTH = { scope: 'user', window: 'month', limit: { unit: 'credits', amount: 10 } } as const;

describe('budgets', () => {
  it('admit exactly what the tightest of three stacked budgets allows to 200 parallel completions', async () => {
    const { app, model, complete } = await setUp();
    const token = await app.token();
    const admin = await adminToken(app);
    await send(app, token, 'POST', '/api/budgets', { ...MONTH, limit: { unit: 'credits', amount: 90 } });
    await send(app, token, 'POST', '/api/budgets', {
      ...MONTH,
      scope: 'key',
      scopeId: app.keyId,
      limit: { unit: 'tokens', amount: 2050 },
    });
    await send(app, admin, 'POST', '/api/budgets', {
      ...MONTH,
      scope: 'everyone',
      limit: { unit: 'requests', amount: 150 },
    });
    const answers = await Promise.all(Array.from({ length: 200 }, complete));
    const admitted = answers.filter(({ status }) => status === 200).length;
    const { body } = await send(app, token, 'GET', `/api/budgets?scope=key&scopeId=${app.keyId}`);
    // Calls that end return half of their tokens to later ones.
    expect(body.budgets[0]).toMatchObject({ spent: 50 * admitted, reserved: 0 });
    expect(body.budgets[0].spent).toBeLessThanOrEqual(2050);
    expect(admitted).toBeGreaterThanOrEqual(20);
    expect(model.calls).toHaveLength(admitted);
    const refused = answers.find(({ status }) => status === 422);
    expect(JSON.parse(refused?.text ?? '')).toMatchObject({ errorCode: 'budget_exceeded' });
  });

  it('name the budget, what is left and the end of the window in a refusal', async () => {
    const { app, complete } = await setUp();
    const token = await app.token();
    await send(app, token, 'POST', '/api/budgets', {
      ...MONTH,
      name: 'My month',
      timeZone: 'Europe/Berlin',
      limit: { unit: 'credits', amount: 1.5 },
    });
    await complete();
    await complete();
    const refused = await complete();
    expect(refused.status).toBe(422);
    expect(JSON.parse(refused.text)).toMatchObject({ errorCode: 'budget_exceeded' });
    expect(refused.text).toContain(
      "Budget 'My month' exceeded. Of 1.5 credits, 1 are spent and 0 are reserved: 0.5 left. This request requires approximately 1. The window ends at 2026-12-01T00:00:00+01:00.",
    );
    expect(await app.ledger.balance(app.account)).toMatchObject({ held: 0 });
    await app.clock.advance(31 * 86_400_000);
    expect((await complete()).status).toBe(200);
  });

  it('take effect when they are created, changed and deleted', async () => {
    const { app, complete } = await setUp();
    const token = await app.token();
    const status = async () => (await complete()).status;
    expect(await status()).toBe(200);
    const limit = { unit: 'requests', amount: 1 };
    const { body } = await send(app, token, 'POST', '/api/budgets', { ...MONTH, window: 'day', limit });
    expect(body).toMatchObject({ name: '1 requests per day for this user', spent: 0, left: 1 });
    expect([await status(), await status()]).toEqual([200, 422]);
    await send(app, token, 'PATCH', `/api/budgets/${body.id}`, { amount: 2 });
    expect([await status(), await status()]).toEqual([200, 422]);
    await send(app, token, 'PATCH', `/api/budgets/${body.id}`, { action: 'notify' });
    expect(await status()).toBe(200);
    expect((await send(app, token, 'GET', `/api/budgets/${body.id}`)).body).toMatchObject({
      spent: 3,
      left: 0,
    });
    await send(app, token, 'PATCH', `/api/budgets/${body.id}`, { action: 'refuse' });
    expect(await status()).toBe(422);
    await send(app, token, 'DELETE', `/api/budgets/${body.id}`);
    expect(await status()).toBe(200);
  });

  it('exist once for the same calls, also after a change of their action', async () => {
    const { app } = await setUp();
    const token = await app.token();
    const create = (action: string) => send(app, token, 'POST', '/api/budgets', { ...MONTH, action });
    const { body } = await create('refuse');
    expect((await create('refuse')).status).toBe(409);
    const path = `/api/budgets/${body.id}`;
    expect((await send(app, token, 'PATCH', path, { action: 'notify' })).status).toBe(200);
    expect((await create('notify')).status).toBe(409);
    const other = await create('refuse');
    expect(other.status).toBe(201);
    expect((await send(app, token, 'PATCH', path, { action: 'refuse' })).status).toBe(409);
    expect((await send(app, token, 'PATCH', path, { action: 'notify' })).status).toBe(200);
    expect((await send(app, token, 'DELETE', `/api/budgets/${other.body.id}`)).status).toBe(204);
    expect((await send(app, token, 'PATCH', path, { action: 'refuse' })).status).toBe(200);
  });

  it('of requests and tokens are obeyed while credits are not enforced', async () => {
    const { app, complete } = await setUp({ settings: { admin: { enforceCredits: false } }, credits: 0 });
    const token = await app.token();
    await send(app, token, 'POST', '/api/budgets', { ...MONTH, limit: { unit: 'tokens', amount: 120 } });
    await send(app, token, 'POST', '/api/budgets', { ...MONTH, limit: { unit: 'credits', amount: 0.1 } });
    expect((await complete()).status).toBe(200);
    expect((await complete()).status).toBe(422);
    const { body } = await send(app, token, 'GET', '/api/budgets?order=asc');
    expect(body.budgets).toMatchObject([{ spent: 50 }, { spent: 0 }]);
    expect(await app.ledger.balance(app.account)).toEqual({ posted: 0, held: 0, available: 0 });
  });

  it('count chat turns of a project, and say in the quest which budget refuses', async () => {
    const app = await createChatApp({ credits: 1000 });
    const token = await app.token();
    const scopeId = await MAKERS.projects?.(app, app.user);
    const budget = await send(app, token, 'POST', '/api/budgets', {
      scope: 'project',
      scopeId,
      name: 'Engine',
      window: 'total',
      limit: { unit: 'requests', amount: 1 },
    });
    expect(budget.status).toBe(201);
    const first = await app.chat({ message: 'Free of the project' });
    const { sessionId } = first.body;
    await app.settle();
    await app.services.store.collection(SESSIONS).update(sessionId, { projectId: `${scopeId}` });
    const outcomes: unknown[] = [];
    for (const message of ['Hi', 'Again']) {
      const turn = await app.chat({ message, sessionId });
      await app.settle();
      const { type, errorCode } = await app.poll(turn.body.id);
      outcomes.push([type, errorCode]);
    }
    expect(outcomes).toEqual([
      ['message', undefined],
      ['error', 'budget_exceeded'],
    ]);
  });

  it('of administrators are shown to the user, and changed by administrators only', async () => {
    const { app, complete } = await setUp();
    const admin = await adminToken(app);
    const grace = await app.addUser('grace@example.com');
    const made = await send(app, admin, 'POST', '/api/budgets', {
      ...MONTH,
      scopeId: grace.id,
      limit: { unit: 'credits', amount: 1 },
    });
    expect(made).toMatchObject({ status: 201, body: { managedBy: 'administrator', editable: true } });
    const hers = await app.token(grace);
    const path = `/api/budgets/${made.body.id}`;
    expect((await send(app, hers, 'GET', path)).body).toMatchObject({ editable: false });
    expect((await send(app, hers, 'PATCH', path, { amount: 9 })).status).toBe(403);
    expect((await send(app, hers, 'DELETE', path)).status).toBe(403);
    // The user's own budget beside it may be wider: the tightest decides.
    const own = await send(app, hers, 'POST', '/api/budgets', {
      ...MONTH,
      limit: { unit: 'credits', amount: 99 },
    });
    expect(own.status).toBe(201);
    expect((await send(app, hers, 'GET', '/api/budgets')).body.pagination.total).toBe(2);
    const other = await app.token(await app.addUser('mary@example.com'));
    expect((await send(app, other, 'GET', path)).status).toBe(404);
    expect((await complete()).status).toBe(200);
  });

  it.each([
    ['a limit of 0', { limit: { unit: 'credits', amount: 0 } }, 422],
    ['a huge limit', { limit: { unit: 'credits', amount: 1e10 } }, 422],
    ['a limit beyond numbers', { limit: { unit: 'tokens', amount: 1e300 } }, 422],
    ['a negative limit', { limit: { unit: 'credits', amount: -1 } }, 422],
    ['half a request', { limit: { unit: 'requests', amount: 0.5 } }, 422],
    ['less than a micro-credit', { limit: { unit: 'credits', amount: 1e-7 } }, 422],
    ['an unknown unit', { limit: { unit: 'dollars', amount: 1 } }, 422],
    ['an unknown zone', { timeZone: 'Mars/Olympus' }, 422],
    ['an offset as zone', { timeZone: '+02:00' }, 422],
    ['an unknown window', { window: 'year' }, 422],
    ['no window', { window: undefined }, 422],
    ['an unknown model', { models: ['nonesuch'] }, 422],
    ['an unknown scope', { scope: 'planet' }, 422],
    ['a key without its id', { scope: 'key' }, 422],
    ['the id of another user', { scopeId: 'f'.repeat(24) }, 404],
    ['an unknown key', { scope: 'key', scopeId: 'f'.repeat(24) }, 404],
    ['a malformed id', { scope: 'project', scopeId: '../x' }, 404],
    ['everyone', { scope: 'everyone' }, 403],
  ])('reject %s', async (_, change, status) => {
    const { app } = await setUp();
    const answer = await send(app, await app.token(), 'POST', '/api/budgets', { ...MONTH, ...change });
    expect(answer.status).toBe(status);
  });

  it('reject an organization or a key of others, and the 21st budget of an owner, but not the next of an administrator', async () => {
    const { app } = await setUp();
    const grace = await app.addUser('grace@example.com');
    const hers = await app.token(grace);
    const organization = await addOrganization(app);
    const create = (credential: string, change: object) =>
      send(app, credential, 'POST', '/api/budgets', { ...MONTH, ...change });
    expect((await create(hers, { scope: 'organization', scopeId: organization.id })).status).toBe(404);
    expect((await create(hers, { scope: 'key', scopeId: app.keyId })).status).toBe(404);
    const token = await adminToken(app);
    expect((await create(token, { scope: 'organization', scopeId: organization.id })).status).toBe(201);
    const statuses: number[] = [];
    for (const window of ['minute', 'hour', 'day', 'week', 'month'] as const) {
      for (const unit of ['credits', 'tokens', 'requests'] as const) {
        statuses.push((await create(hers, { window, limit: { unit, amount: 5 } })).status);
      }
      statuses.push((await create(hers, { window, action: 'notify' })).status);
    }
    expect(new Set(statuses)).toEqual(new Set([201]));
    expect((await create(hers, { window: 'total' })).status).toBe(400);
    const limit = { scopeId: grace.id, window: 'total' };
    expect((await create(token, limit)).status).toBe(201);
  });
});

describe('ledgers without caps of budgets', () => {
  const withoutCaps = ({ capUsage: _, ...ledger }: CreditLedger): CreditLedger => ledger;

  it('work without budgets, which are not part of the API', async () => {
    const { app, complete } = await setUp({ ledger: withoutCaps, settings: { onEvent: () => undefined } });
    expect((await complete()).status).toBe(200);
    expect(app.api.routes.filter(({ operation }) => operation.path.startsWith('/api/budgets'))).toEqual([]);
    expect(app.incidents).toEqual([]);
  });

  it('refuse the calls that a stored budget counts', async () => {
    const { app, complete, model } = await setUp({ ledger: withoutCaps });
    await MAKERS.budgets?.(app, app.user);
    expect((await complete()).status).toBe(500);
    expect(model.calls).toEqual([]);
    expect(String(app.incidents[0]?.error)).toContain('the ledger has no capUsage');
  });
});

describe('the audit log of budgets', () => {
  it('has amounts in the unit of the API', async () => {
    const { app } = await setUp();
    const admin = await adminToken(app);
    const { body } = await send(app, admin, 'POST', '/api/budgets', MONTH);
    await send(app, admin, 'PATCH', `/api/budgets/${body.id}`, { amount: 2.5, name: 'Less' });
    const log = await send(app, admin, 'GET', `/api/audit?target=${body.id}`);
    const amounts = log.body.data.flatMap(({ changes }: { changes: { field: string }[] }) =>
      changes.filter(({ field }) => field === 'amount'),
    );
    expect(amounts).toEqual([
      { field: 'amount', before: 10, after: 2.5 },
      { field: 'amount', before: null, after: 10 },
    ]);
    const change = { field: 'name', before: body.name, after: 'Less' };
    expect(log.body.data[0].changes).toContainEqual(change);
  });
});
