import { QUESTS, SESSIONS } from '@questline/core/internal';
import { createMemoryPublisher } from '@questline/core/memory';
import type { Store } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { type ChatApp, createChatApp } from '../support/chat.ts';

/** How a port fails: with a rejected promise or with a synchronous throw. */
type How = 'rejects' | 'throws';

/** Wraps ports so that the call number `place` fails while the fault is armed. */
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
  'a chat message': (app: ChatApp) => app.ask('POST', '/api/chat', { body: { message: 'Hi' } }),
  'a chat message with wait': (app: ChatApp) =>
    app.ask('POST', '/api/chat', { body: { message: 'Hi', wait: true } }),
  'a completion': (app: ChatApp) =>
    app.ask('POST', '/api/ai/v1/completions', {
      body: { model: 'scripted', messages: [{ role: 'user', content: 'Hi' }] },
    }),
} satisfies Record<string, (app: ChatApp) => Promise<Response>>;

/** Runs a request whose port call number `place` fails. @returns an empty `hit` if there are fewer calls. */
async function runWithFault(ask: (app: ChatApp) => Promise<Response>, how: How, place: number) {
  const { fault, wrap, wrapStore } = createFault(how, place);
  const app = await createChatApp({
    store: wrapStore,
    ledger: (ledger) => wrap('ledger', ledger),
    publisher: wrap('publisher', createMemoryPublisher()),
    services: (services) => ({ ...services, limiter: wrap('limiter', services.limiter) }),
  });
  fault.armed = true;
  let text: string | undefined;
  let status = 0;
  const answered = ask(app).then(async (response) => {
    status = response.status;
    text = await response.text();
  });
  for (let second = 0; text === undefined || second < 3; second += 1) {
    await app.settle();
    await app.clock.advance(1000);
  }
  await answered;
  fault.armed = false;
  // Longer than a lease and the interval of the recovery task.
  for (let step = 0; step < 8; step += 1) {
    await app.clock.advance(15_000);
    await app.settle();
  }

  const quests = await app.services.store.collection(QUESTS).find({});
  const sessions = await app.services.store.collection(SESSIONS).find({});
  const charges = await app.ledger.charges({ account: app.account }, 10);
  const { held } = await app.ledger.balance(app.account);
  const next = await app.chat({ message: 'Again', wait: true });
  await app.api.close();
  return {
    hit: fault.hit,
    status,
    text,
    state: {
      // A turn and its session are stored together.
      sessions: sessions.length - quests.length,
      live: quests.filter(({ status: now }) => now !== 'done' && now !== 'stopped').length,
      held,
      settled: charges.filter((charge) => charge.status === 'settled').length,
      next: next.status,
      timers: app.clock.pending,
    },
    incidents: app.incidents.length,
  };
}

describe.each(Object.entries(ASKED))('%s', (_name, ask) => {
  it.each(['rejects', 'throws'] as const)(
    'gives one answer and one end, charges at most once and leaves nothing open, whichever port call %s',
    { timeout: 30_000 },
    async (how) => {
      const hits: string[] = [];
      for (let place = 0; ; place += 1) {
        const { hit, status, text, state, incidents } = await runWithFault(ask, how, place);
        if (hit === '') break;
        hits.push(hit);
        const where = `${place}: ${hit}`;
        expect([200, 500], where).toContain(status);
        // A client that waits polls again: the turn was accepted and continues.
        if (hit === 'quests.get') expect(status, where).toBe(200);
        expect(text, where).not.toContain('SECRET');
        expect(text, where).toMatch(/^\{.*\}$|data: \[DONE\]\n\n$/s);
        expect(state, where).toEqual({
          sessions: 0,
          live: 0,
          held: 0,
          settled: expect.any(Number),
          next: 200,
          timers: 0,
        });
        // A failed request is not charged.
        expect(state.settled, where).toBeLessThanOrEqual(status === 200 ? 1 : 0);
        expect(incidents, where).toBeGreaterThan(0);
      }
      expect(hits).toContain('ledger.hold');
      expect(hits).toContain('ledger.settle');
    },
  );
});
