import { subscribe, USERS } from '@questline/core';
import type { Usage } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { pay } from '../support/charges.ts';
import { addOrganization } from '../support/people.ts';
import { callAs } from '../support/sharing.ts';
import { createTestApp, NOW, type TestApp } from '../support/test-app.ts';

const DAY = 24 * 3_600_000;

async function spend(app: TestApp, credits: number, usage?: Usage, account = app.account): Promise<void> {
  const { ledger, clock, keyId, user, services } = app;
  const details = { operation: 'test', keyId, userId: user.id };
  const key = services.ids.next();
  const amount = credits * 1_000_000;
  const held = await ledger.hold({ account, amount, key, expiresAt: clock.now() + 60_000, details });
  if (held.outcome !== 'held') throw new Error('expected a hold');
  await ledger.settle(held.hold, amount, usage, details);
}

const getUsage = async (app: TestApp) => (await callAs(app, app.user, 'GET', '/api/v1/usage')).body;

describe('own usage', () => {
  it('counts what was spent in a day and in 30 days', async () => {
    const app = await createTestApp();
    const read = async () => {
      const { spend: spent } = await getUsage(app);
      return [spent.last_24h, spent.last_30d];
    };
    await spend(app, 5);
    await app.clock.advance(DAY - 1000);
    await spend(app, 2);
    expect(await read()).toEqual([7, 7]);
    await app.clock.advance(2000);
    expect(await read()).toEqual([2, 7]);
    await app.clock.advance(DAY);
    expect(await read()).toEqual([0, 7]);
    await app.clock.advance(28 * DAY);
    expect(await read()).toEqual([0, 2]);
  });

  it.each<[Usage | undefined, number | null]>([
    [undefined, null],
    [{ output: 5 }, null],
    [{ input: 10 }, 0],
    [{ input: 1 }, 0],
    [{ cachedInput: 10 }, 1],
    [{ cacheWrite: 10 }, 0],
    [{ input: 1, cachedInput: 1 }, 0.5],
    [{ input: 1, cachedInput: 1, cacheWrite: 1 }, 0.333],
  ])('of %j has the cache hit rate %j', async (usage, rate) => {
    const app = await createTestApp();
    await spend(app, 1, usage);
    expect((await getUsage(app)).recent).toMatchObject([{ credits: 1, cache_hit_rate: rate }]);
  });

  it('does not include what an organization has paid, nor another user', async () => {
    const app = await createTestApp();
    const { id } = await addOrganization(app);
    const account = `organization:${id}`;
    await app.ledger.grant({ account, amount: 9_000_000, key: 'k', reason: 'start' });
    await spend(app, 3, undefined, account);
    expect((await getUsage(app)).spend).toMatchObject({ last_24h: 0, last_30d: 0, cap: null });
    await spend(app, 1);
    const grace = await app.addUser('grace@example.com');
    const hers = (await callAs(app, grace, 'GET', '/api/v1/usage')).body;
    expect([hers.spend.last_30d, hers.recent]).toEqual([0, []]);
  });

  it('contains what is known of a call', async () => {
    const app = await createTestApp();
    const usage = { input: 1, cachedInput: 2, cacheWrite: 3, output: 4, reasoning: 5, characters: 6 };
    await pay(app, { operation: 'chat', model: 'scripted', requestId: 'r1', amount: 1_500_000, usage });
    await pay(app, { end: 'reserved' });
    const recent = (await getUsage(app)).recent as { status: string }[];
    const common = { id: expect.any(String), created_at: new Date(NOW).toISOString() };
    expect(recent.find(({ status }) => status === 'settled')).toEqual({
      ...common,
      operation: 'chat',
      model: 'scripted',
      status: 'settled',
      credits: 1.5,
      usage: {
        input_tokens: 1,
        cached_input_tokens: 2,
        cache_write_tokens: 3,
        output_tokens: 4,
        reasoning_tokens: 5,
        characters: 6,
      },
      cache_hit_rate: 0.333,
      request_id: 'r1',
    });
    expect(recent.find(({ status }) => status === 'reserved')).toMatchObject({
      model: null,
      usage: null,
      request_id: '',
    });
  });
});

describe('usage of a key', () => {
  it('shows its own calls, limits and cap; a signed-in user has none of them', async () => {
    const spendCap = { amount: 5_000_000, period: 'month' } as const;
    const app = await createTestApp({ key: { requestsPerMinute: 3, requestsPerDay: 7, spendCap } });
    const { user, keyId } = app;
    await pay(app, { userId: user.id });
    await pay(app, { userId: user.id, keyId, amount: 2_000_000 });
    await app.clock.advance(1);
    const body = (await (await app.ask('GET', '/api/v1/usage')).json()) as Record<string, unknown>;
    const nextMinute = NOW / 1000 + 61;
    expect(body).toMatchObject({
      key: { id: keyId, name: 'test' },
      rate_limit: {
        minute: { limit: 3, remaining: 2, reset: nextMinute },
        day: { limit: 7, remaining: 7, reset: expect.any(Number) },
      },
      spend: { last_24h: 2, last_30d: 2, cap: { credits: 5, period: 'month', used: 0 } },
      recent: [{ credits: 2 }],
    });
    const own = await getUsage(app);
    expect(own).toMatchObject({ key: null, rate_limit: null, spend: { last_24h: 3, cap: null } });
  });
});

describe('the own account', () => {
  const plan = { name: 'Pro', priceId: 'price_1', interval: 'monthly', entitlements: ['video'] } as const;
  const shown = { plan_name: 'Pro', price_id: 'price_1', interval: 'monthly' };

  it.each([
    ['runs', 'active', 1, true],
    ['is overdue', 'past_due', -1, true],
    ['is cancelled, until it expires', 'cancelled', 1, true],
    ['is cancelled, from its end', 'cancelled', 0, false],
  ] as const)(
    'shows a subscription that %s: %s, %i ms before its end',
    async (_, status, leftMs, isShown) => {
      const app = await createTestApp();
      const others = await app.addUser('grace@example.com');
      const end = NOW + leftMs;
      const terms = { tier: 'pro', currentPeriodEnd: end } as const;
      const otherPlan = { ...plan, name: 'Other' };
      await subscribe(app.services, { userId: others.id }, { ...terms, status: 'active', plan: otherPlan });
      await subscribe(app.services, { userId: app.user.id }, { ...terms, status, plan });
      const { body } = await callAs(app, app.user, 'GET', '/api/v1/me');
      expect([body.subscription, body.entitlements]).toEqual(
        isShown ? [{ ...shown, current_period_ends_at: new Date(end).toISOString() }, ['video']] : [null, []],
      );
    },
  );

  it('answers 401 when it was deleted a moment ago', async () => {
    const app = await createTestApp();
    const credential = await app.token();
    expect((await app.ask('GET', '/api/v1/me', { credential })).status).toBe(200);
    await app.services.store.collection(USERS).take(app.user.id);
    expect((await app.ask('GET', '/api/v1/me', { credential })).status).toBe(401);
  });
});
