import type { Usage } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { addOrganization } from '../support/people.ts';
import { callAs } from '../support/sharing.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

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
});
