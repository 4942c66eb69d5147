import { QUESTS, type Store } from '@questline/core';
import { createMemoryPublisher } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import { type ChatWorld, createChatWorld } from '../support/chat.ts';

/** How a port fails: as it should, or before it has made a promise. */
type How = 'rejects' | 'throws';

/** Ports that fail at one call, the same one each time, while they are armed. */
function createFault(how: How, place: number) {
  const fault = { armed: false, hit: '' };
  let calls = 0;
  type Verb = (...args: never[]) => unknown;

  const failing =
    (name: string, verb: Verb): Verb =>
    (...args) => {
      if (!fault.armed || calls++ !== place) return verb(...args);
      fault.hit = name;
      const error = new Error('SECRET of the engine');
      if (how === 'throws') throw error;
      return Promise.reject(error);
    };
  const wrap = <T extends object>(label: string, port: T): T =>
    new Proxy(port, {
      get(target, key) {
        const member: unknown = Reflect.get(target, key);
        return typeof member === 'function'
          ? failing(`${label}.${String(key)}`, member.bind(target))
          : member;
      },
    });
  const wrapStore = (store: Store): Store => {
    const transaction = (work: (inner: Store) => Promise<unknown>) =>
      store.transaction((inner) => work(wrapStore(inner)));
    return {
      collection: (definition) => wrap(definition.name, store.collection(definition)),
      transaction: failing('transaction', transaction as Verb) as Store['transaction'],
    };
  };
  return { fault, wrap, wrapStore };
}

const ASKED = {
  'a chat message': (world: ChatWorld) => world.ask('POST', '/api/chat', { body: { message: 'Hi' } }),
  'a chat message that waits': (world: ChatWorld) =>
    world.ask('POST', '/api/chat', { body: { message: 'Hi', wait: true } }),
  'a completion': (world: ChatWorld) =>
    world.ask('POST', '/api/ai/v1/completions', {
      body: { model: 'scripted', messages: [{ role: 'user', content: 'Hi' }] },
    }),
} satisfies Record<string, (world: ChatWorld) => Promise<Response>>;

/** @returns what failed; undefined once there are fewer calls than that. */
async function outcomeOf(ask: (world: ChatWorld) => Promise<Response>, how: How, place: number) {
  const { fault, wrap, wrapStore } = createFault(how, place);
  const world = await createChatWorld({
    store: wrapStore,
    ledger: (ledger) => wrap('ledger', ledger),
    publisher: wrap('publisher', createMemoryPublisher()),
    services: (services) => ({ ...services, limiter: wrap('limiter', services.limiter) }),
  });
  fault.armed = true;
  let text: string | undefined;
  let status = 0;
  const answered = ask(world).then(async (response) => {
    status = response.status;
    text = await response.text();
  });
  for (let second = 0; text === undefined || second < 3; second += 1) {
    await world.settle();
    await world.clock.advance(1000);
  }
  await answered;
  fault.armed = false;
  // Longer than a lease, and than the sweep that looks for lost work takes.
  for (let step = 0; step < 8; step += 1) {
    await world.clock.advance(15_000);
    await world.settle();
  }

  const quests = await world.services.store.collection(QUESTS).find({});
  const charges = await world.ledger.charges({ account: world.account }, 10);
  const { held } = await world.ledger.balance(world.account);
  const next = await world.chat({ message: 'Again', wait: true });
  await world.api.close();
  return {
    hit: fault.hit,
    status,
    text,
    seen: {
      live: quests.filter(({ status: now }) => now !== 'done' && now !== 'stopped').length,
      held,
      settled: charges.filter((charge) => charge.status === 'settled').length,
      next: next.status,
      timers: world.clock.pending,
    },
    incidents: world.incidents.length,
  };
}

describe.each(Object.entries(ASKED))('%s', (_name, ask) => {
  it.each(['rejects', 'throws'] as const)(
    'whichever call of a port %s: one answer, one end, charged at most once, nothing left open',
    { timeout: 30_000 },
    async (how) => {
      const hits: string[] = [];
      for (let place = 0; ; place += 1) {
        const { hit, status, text, seen, incidents } = await outcomeOf(ask, how, place);
        if (hit === '') break;
        hits.push(hit);
        const where = `${place}: ${hit}`;
        expect([200, 500], where).toContain(status);
        // Who waits looks again: the turn is accepted, and goes on.
        if (hit === 'quests.get') expect(status, where).toBe(200);
        expect(text, where).not.toContain('SECRET');
        expect(text, where).toMatch(/^\{.*\}$|data: \[DONE\]\n\n$/s);
        expect(seen, where).toEqual({ live: 0, held: 0, settled: expect.any(Number), next: 200, timers: 0 });
        // What was told to have failed is not paid for.
        expect(seen.settled, where).toBeLessThanOrEqual(status === 200 ? 1 : 0);
        expect(incidents, where).toBeGreaterThan(0);
      }
      expect(hits).toContain('ledger.hold');
      expect(hits).toContain('ledger.settle');
    },
  );
});
