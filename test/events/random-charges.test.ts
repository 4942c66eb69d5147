import type { HostEvent } from '@questline/core';
import { ProviderError } from '@questline/core/ports';
import { createRandom } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';
import { callAs } from '../support/sharing.ts';

const CALLS = 150;
const SEEDS = [1, 2, 3, 4];

describe('events of charges', () => {
  it.each(SEEDS)('have the same sum as the ledger, with seed %i', async (seed) => {
    const random = createRandom(seed);
    const heard = new Map<string, HostEvent>();
    const counts = new Map<string, number>();
    const app = await createChatApp({
      credits: 100_000,
      settings: {
        admin: { DefaultAPIModel: 'scripted' },
        onEvent(event) {
          if (random.chance(0.2)) throw new Error('away');
          heard.set(event.id, event);
          counts.set(event.id, (counts.get(event.id) ?? 0) + 1);
        },
      },
      onCall(call) {
        const words = 1 + random.below(50);
        if (random.chance(0.1)) return call.fail(new ProviderError('invalid_request', 'no'));
        call.say({ type: 'text', text: 'word '.repeat(words) });
        if (random.chance(0.1)) return call.fail(new ProviderError('failed', 'cut'));
        call.say({ type: 'usage', usage: { input: random.below(5000), output: words } });
        call.end();
      },
    });
    const created = await callAs(app, app.user, 'POST', '/api/organizations', { name: 'Lab' });
    const organization = `organization:${created.body._id}`;
    await app.ledger.grant({ account: organization, amount: 1e11, key: 'start', reason: 'start' });
    const team = await app.issue({
      scopes: ['ai:chat', 'ai:generate', 'notebooks:write'],
      organizationId: created.body._id,
      requestsPerMinute: 10_000,
      requestsPerDay: 1_000_000,
    });
    for (let call = 0; call < CALLS; call += 1) {
      const credential = random.chance(0.5) ? team.key : app.key;
      const leaving = new AbortController();
      const options = { credential, signal: leaving.signal };
      const work = random.chance(0.5)
        ? app.chat({ message: 'Hi' }, options)
        : app
            .ask('POST', '/api/ai/v1/completions', {
              ...options,
              body: { model: 'scripted', messages: [{ role: 'user', content: 'Hi' }] },
            })
            .then((answer) => answer.text());
      if (random.chance(0.1)) leaving.abort();
      await work.catch(() => undefined);
      if (random.chance(0.3)) await app.settle();
    }
    for (let minute = 0; minute < 20; minute += 1) {
      await app.clock.advance(60_000);
      await app.settle();
    }

    const charges = [...heard.values()].flatMap((event) => (event.type === 'charge.settled' ? [event] : []));
    for (const account of [app.account, organization]) {
      const entries = await app.ledger.entries(account, { limit: 1000 });
      const spent = entries.reduce((sum, { kind, amount }) => (kind === 'charge' ? sum - amount : sum), 0);
      const reported = charges.filter(({ data }) => data.account === account);
      expect(reported.reduce((sum, { data }) => sum + data.amount, 0)).toBe(spent);
      expect(reported.length).toBeGreaterThan(20);
      const settled = await app.ledger.charges({ account }, 1000);
      expect(reported).toHaveLength(settled.filter(({ status }) => status === 'settled').length);
      expect((await app.ledger.balance(account)).held).toBe(0);
    }
    expect([...counts.values()].filter((count) => count > 1)).toEqual([]);
  });
});
