import type { HostEvent } from '@questline/core';
import { BUDGET_NOTICES, EVENT_OUTBOX, SESSIONS } from '@questline/core/internal';
import type { CreditLedger, WebhookRequest, WebhookSender } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { type ChatApp, type ChatAppOptions, createChatApp } from '../support/chat.ts';
import type { ModelCall } from '../support/model.ts';
import { MAKERS } from '../support/owned-resources.ts';
import { addOrganization } from '../support/people.ts';
import { callAs } from '../support/sharing.ts';
import { adminToken } from '../support/sign-in.ts';
import { createCountingStore } from '../support/store.ts';

const HOUR = 3_600_000;
// A reservation of exactly 1 credit.
const COMPLETION = {
  model: 'scripted',
  messages: [{ role: 'user', content: '0123456789' }],
  options: { maxTokens: 96 },
};
const MONTH = { scope: 'user', window: 'month' } as const;
const RECEIVERS = 'https://hooks.example.com/in';

/** Answers at once, and uses half a credit. */
function answer(call: ModelCall): void {
  call.say(
    { type: 'text', text: 'yes' },
    { type: 'usage', usage: { input: 4, output: 46 } },
    { type: 'finish', reason: 'stop' },
  );
  call.end();
}

type Threshold = Extract<HostEvent, { type: 'budget.threshold' }>;

async function setUp({ settings, ...options }: ChatAppOptions = {}) {
  const heard: Threshold[] = [];
  const onEvent = (event: HostEvent): void => {
    if (event.type === 'budget.threshold') heard.push(event);
  };
  const app = await createChatApp({
    onCall: answer,
    ...options,
    settings: { admin: { DefaultAPIModel: 'scripted' }, onEvent, ...settings },
  });
  return {
    app,
    heard,
    thresholds: () => heard.map(({ data }) => data.threshold),
    complete: () => complete(app),
  };
}

async function complete(app: ChatApp): Promise<number> {
  const response = await app.ask('POST', '/api/ai/v1/completions', { body: COMPLETION });
  await response.text();
  await app.settle();
  return response.status;
}

async function create(app: ChatApp, body: object, credential?: string) {
  const made = await app.json('POST', '/api/budgets', {
    body,
    credential: credential ?? (await app.token()),
  });
  expect(made.status).toBe(201);
  return made.body;
}

/** Counts the calls of `capUsage`. */
function countChecks() {
  const counter = { calls: 0, failure: undefined as Error | undefined };
  const wrap = (ledger: CreditLedger): CreditLedger => ({
    ...ledger,
    async capUsage(...args) {
      counter.calls += 1;
      if (counter.failure !== undefined) throw counter.failure;
      return (await ledger.capUsage?.(...args)) ?? [];
    },
  });
  return { counter, wrap };
}

describe('thresholds of budgets', () => {
  it('are reported once each, with the sums in units of the API', async () => {
    const { app, heard, complete } = await setUp();
    const budget = await create(app, {
      ...MONTH,
      timeZone: 'Europe/Berlin',
      limit: { unit: 'credits', amount: 2 },
      action: 'notify',
    });
    for (let call = 0; call < 6; call += 1) expect(await complete()).toBe(200);
    const data = {
      id: budget.id,
      userId: app.user.id,
      scope: 'user',
      scopeId: app.user.id,
      unit: 'credits',
      action: 'notify',
      limit: 2,
      reserved: 0,
      windowStart: '2026-10-31T23:00:00.000Z',
      windowEnd: '2026-11-30T23:00:00.000Z',
    };
    expect(heard.map((event) => event.data)).toEqual([
      { ...data, threshold: 50, spent: 1 },
      { ...data, threshold: 80, spent: 2 },
      { ...data, threshold: 100, spent: 2 },
    ]);
    expect(new Set(heard.map(({ id }) => id)).size).toBe(3);
    expect(app.incidents).toEqual([]);
  });

  it('are reported again in the next window, and after a change of the amount', async () => {
    const { app, heard, thresholds, complete } = await setUp();
    const limit = { unit: 'requests', amount: 1 };
    const { id } = await create(app, { ...MONTH, window: 'hour', limit, action: 'notify' });
    await complete();
    await complete();
    expect(thresholds()).toEqual([50, 80, 100]);
    await app.clock.advance(HOUR);
    await complete();
    expect(thresholds()).toEqual([50, 80, 100, 50, 80, 100]);
    const body = { amount: 4 };
    await app.json('PATCH', `/api/budgets/${id}`, { body, credential: await app.token() });
    await complete();
    expect(thresholds().slice(6)).toEqual([50]);
    expect(new Set(heard.map((event) => event.id)).size).toBe(7);
  });

  it('include 100 when a call is refused above 80, and not when a call is too large for a new budget', async () => {
    const { app, thresholds, complete } = await setUp();
    await create(app, { ...MONTH, limit: { unit: 'credits', amount: 0.6 } });
    expect(await complete()).toBe(422);
    expect(thresholds()).toEqual([]);
    await create(app, { ...MONTH, window: 'day', limit: { unit: 'tokens', amount: 120 }, action: 'notify' });
    await app.json('PATCH', `/api/budgets/${await newest(app, 'credits')}`, {
      body: { amount: 1.7 },
      credential: await app.token(),
    });
    expect([await complete(), await complete(), await complete(), await complete()]).toEqual([
      200, 200, 422, 422,
    ]);
    // Of 1.7 credits 0.5 and 1 are below 80 %; of 120 tokens 50 and 100.
    expect(thresholds()).toEqual([50, 50, 80]);
    await app.json('PATCH', `/api/budgets/${await newest(app, 'credits')}`, {
      body: { amount: 1.2 },
      credential: await app.token(),
    });
    expect(await complete()).toBe(422);
    expect(await complete()).toBe(422);
    expect(thresholds().slice(3)).toEqual([50, 80, 100]);
  });

  it('of calls at the same time are reported when they are reached', async () => {
    const calls: ModelCall[] = [];
    const { app, heard } = await setUp({ onCall: (call) => void calls.push(call) });
    await create(app, { scope: 'user', limit: { unit: 'concurrent', amount: 2 } });
    const open = [complete(app), complete(app)];
    await app.settle();
    for (const call of calls) answer(call);
    await Promise.all(open);
    expect(heard.map(({ data }) => [data.threshold, data.windowEnd])).toEqual([
      [50, null],
      [80, null],
      [100, null],
    ]);
    expect(heard.at(-1)?.data).toMatchObject({ spent: 0, reserved: 2 });
  });

  it('count for the owner of a key or a project, for an organization, and for everyone without an owner', async () => {
    const { app, heard } = await setUp();
    const admin = await adminToken(app);
    const organization = await addOrganization(app);
    const projectId = await MAKERS.projects?.(app, app.user);
    const account = `organization:${organization.id}`;
    await app.ledger.grant({ account, amount: 1e9, key: 'credit', reason: 'test' });
    const { key, record } = await app.issue({ scopes: ['ai:chat'], organizationId: organization.id });
    const one = { window: 'total', limit: { unit: 'requests', amount: 1 }, action: 'notify' } as const;
    const first = await app.chat({ message: 'Hi' });
    await app.settle();
    const { sessionId } = first.body;
    await app.services.store.collection(SESSIONS).update(sessionId, { projectId: `${projectId}` });
    await create(app, { ...one, scope: 'project', scopeId: projectId });
    await create(app, { ...one, scope: 'key', scopeId: record.id });
    await create(app, { ...one, scope: 'organization', scopeId: organization.id });
    await create(app, { ...one, scope: 'everyone' }, admin);
    await app.chat({ message: 'Hi', sessionId }, { credential: key });
    await app.settle();
    const owners = heard
      .filter(({ data }) => data.threshold === 100)
      .map(({ data: { scope, userId, organizationId } }) => ({ scope, userId, organizationId }));
    expect(owners).toEqual(
      expect.arrayContaining([
        { scope: 'project', userId: app.user.id, organizationId: undefined },
        { scope: 'key', userId: app.user.id, organizationId: undefined },
        { scope: 'organization', userId: undefined, organizationId: organization.id },
        { scope: 'everyone', userId: undefined, organizationId: undefined },
      ]),
    );
  });

  it('reach the webhooks of the owner, with the payload of the event', async () => {
    const requests: WebhookRequest[] = [];
    const webhooks: WebhookSender = {
      isAllowed: async () => true,
      async send(request) {
        requests.push(request);
        return { outcome: 'answered', status: 200 };
      },
    };
    const app = await createChatApp({ onCall: answer, webhooks });
    await callAs(app, app.user, 'POST', '/api/webhooks', { url: RECEIVERS, types: ['budget.threshold'] });
    const { id } = await create(app, { ...MONTH, limit: { unit: 'requests', amount: 2 } });
    expect([await complete(app), await complete(app), await complete(app)]).toEqual([200, 200, 422]);
    await app.settle();
    const bodies = requests.map(({ body }) => JSON.parse(body));
    expect(bodies.map(({ type, data }) => [type, data.id, data.threshold, data.spent])).toEqual([
      ['budget.threshold', id, 50, 1],
      ['budget.threshold', id, 80, 2],
      ['budget.threshold', id, 100, 2],
    ]);
    // Neither intents nor charges stay behind.
    expect(await app.services.store.collection(EVENT_OUTBOX).count({})).toBe(0);
  });

  it('are reported by the sweep after a check that failed', async () => {
    const { counter, wrap } = countChecks();
    const { app, thresholds, complete } = await setUp({ ledger: wrap });
    await create(app, { ...MONTH, limit: { unit: 'requests', amount: 1 } });
    counter.failure = new Error('the ledger is away');
    expect(await complete()).toBe(200);
    expect(thresholds()).toEqual([]);
    counter.failure = undefined;
    await app.clock.advance(HOUR);
    await app.settle();
    expect(thresholds()).toEqual([50, 80, 100]);
  });

  it('cost a call without a matching budget nothing, and one above all thresholds no check', async () => {
    const store = createCountingStore();
    const { counter, wrap } = countChecks();
    const app = await createChatApp({ onCall: answer, store: store.wrap, ledger: wrap, started: false });
    const grace = await app.addUser('grace@example.com');
    await callAs(app, grace, 'POST', '/api/budgets', { ...MONTH, limit: { unit: 'requests', amount: 1 } });
    await complete(app);
    store.calls = 0;
    counter.calls = 0;
    await complete(app);
    expect([counter.calls, store.calls]).toEqual([0, 0]);
    await callAs(app, app.user, 'POST', '/api/webhooks', { url: RECEIVERS, types: ['budget.threshold'] });
    await create(app, { ...MONTH, limit: { unit: 'requests', amount: 1 }, action: 'notify' });
    counter.calls = 0;
    await complete(app);
    expect(counter.calls).toBe(1);
    await complete(app);
    expect(counter.calls).toBe(1);
  });

  it('leave no notice of a deleted budget', async () => {
    const { app, complete } = await setUp();
    const { id } = await create(app, { ...MONTH, limit: { unit: 'requests', amount: 1 } });
    await complete();
    const notices = app.services.store.collection(BUDGET_NOTICES);
    expect(await notices.count({})).toBe(1);
    await app.json('DELETE', `/api/budgets/${id}`, { credential: await app.token() });
    expect(await notices.count({})).toBe(0);
  });
});

/** The id of the newest budget with a unit. */
async function newest(app: ChatApp, unit: string): Promise<string> {
  const { body } = await app.json('GET', '/api/budgets', { credential: await app.token() });
  return body.budgets.find(({ limit }) => limit.unit === unit)?.id ?? '';
}
