import { createApi, createServices, createUser, issueApiKey, toFetchHandler } from '@questline/core';
import {
  createMemoryLedger,
  createMemoryLimiter,
  createMemoryQueue,
  createMemoryStore,
} from '@questline/core/memory';
import { type Clock, type JobQueue, StorageUnavailable } from '@questline/core/ports';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { answerParts } from '../support/chat.ts';
import { createScriptedProvider, type ModelCall } from '../support/model.ts';
import { NOW } from '../support/test-app.ts';

const isExtraction = ({ request }: ModelCall): boolean =>
  JSON.stringify(request.messages).includes('You extract facts');

function answer(call: ModelCall | undefined, text: string): void {
  call?.say(...answerParts(text));
  call?.end();
}

/**
 * Two processes over the same ports. The clock of the first one stands still, like that of a suspended machine: its leases
 * expire, and it learns nothing of it.
 */
async function createTwoProcesses(onCall: (call: ModelCall) => void) {
  const clock = createFakeClock(NOW);
  const paused = createFakeClock(NOW);
  const ids = createFakeIds();
  const model = createScriptedProvider(onCall);
  const store = createMemoryStore();
  const ledger = createMemoryLedger({ clock });
  const queue = createMemoryQueue({ clock, ids });
  const shared = { store, ledger, limiter: createMemoryLimiter(), ids, models: [model] };
  let isPaused = false;
  const queueOfPaused: JobQueue = {
    ...queue,
    lease: async (want, options) => (isPaused ? [] : queue.lease(want, options)),
  };
  const open = (own: { readonly clock: Clock; readonly queue: JobQueue }) => {
    const services = createServices(
      { ...shared, ...own },
      { jwtSecret: 'a'.repeat(64), admin: { DefaultAPIModel: 'scripted' } },
    );
    return { services, api: createApi(services, { worker: false }) };
  };
  let isQueueDown = false;
  const answers = (): void => {
    if (isQueueDown) throw new StorageUnavailable('The queue does not answer.');
  };
  const queueOfCurrent: JobQueue = {
    ...queue,
    async lease(...args) {
      answers();
      return queue.lease(...args);
    },
    async renew(...args) {
      answers();
      return queue.renew(...args);
    },
  };
  const first = open({ clock: paused, queue: queueOfPaused });
  const second = open({ clock, queue: queueOfCurrent });
  const user = await createUser(first.services, { email: 'ada@example.com', username: 'ada' });
  if (user === undefined) throw new Error('no user');
  const account = `user:${user.id}`;
  await ledger.grant({ account, amount: 1e9, key: 'start', reason: 'start' });
  const { key } = await issueApiKey(first.services, {
    userId: user.id,
    name: 'test',
    scopes: ['ai:chat', 'ai:generate', 'notebooks:read', 'notebooks:write'],
  });
  const handle = toFetchHandler(second.api);
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 100; turn += 1) await clock.advance(0);
  };
  return {
    model,
    settle,
    pass: (ms: number) => clock.advance(ms),
    /** The first process takes the work. */
    begin: () => first.api.start(),
    beginSecond: () => second.api.start(),
    /** No lease is given or extended for a time. */
    async loseLeases(ms: number) {
      isQueueDown = true;
      await clock.advance(ms);
      isQueueDown = false;
      await settle();
    },
    /** Its lease expires, and the second process takes over. */
    async takeOver() {
      isPaused = true;
      await clock.advance(90_000);
      await second.api.start();
      await settle();
    },
    async send(path: string, body: object = {}) {
      const response = await handle(
        new Request(`http://questline.test${path}`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        }),
      );
      return (await response?.json()) as Record<string, unknown>;
    },
    async poll(id: unknown) {
      const response = await handle(
        new Request(`http://questline.test/api/v1/quests/${id}`, {
          headers: { Authorization: `Bearer ${key}` },
        }),
      );
      return (await response?.json()) as Record<string, unknown>;
    },
    async charged(operation: string) {
      const charges = await ledger.charges({ account }, 100);
      return charges.filter((charge) => charge.operation === operation && charge.status === 'settled').length;
    },
    held: async () => (await ledger.balance(account)).held,
    async close() {
      await first.api.close();
      await second.api.close();
    },
  };
}

describe('a worker that continues after another one has taken over', () => {
  it('charges no follow-up that has ended, and whose record is gone', async () => {
    const app = await createTwoProcesses((call) => {
      if (!isExtraction(call)) answer(call, 'Hello.');
    });
    await app.begin();
    await app.send('/api/chat', {
      message: 'I have kept bees near Oslo since my youth.',
      enableMementos: true,
    });
    await app.settle();
    await app.takeOver();
    const [suspended, current] = app.model.calls.filter(isExtraction);
    answer(current, '{"mementos": []}');
    await app.settle();
    answer(suspended, '{"mementos": []}');
    await app.settle();
    expect(await app.charged('keepMementos')).toBe(1);
    expect(await app.held()).toBe(0);
    await app.close();
  });

  it('charges no turn that was stopped meanwhile', async () => {
    const app = await createTwoProcesses(() => undefined);
    await app.begin();
    const { id } = await app.send('/api/chat', { message: 'Hello' });
    await app.settle();
    await app.takeOver();
    const [suspended, current] = app.model.calls;
    expect(app.model.calls).toHaveLength(2);
    current?.say({ type: 'text', text: 'Half of an answer' });
    await app.settle();
    await app.send(`/api/v1/quests/${id}/cancel`);
    await app.settle();
    answer(suspended, 'A whole answer.');
    await app.settle();
    // The stopped call is read on for its usage report.
    await app.pass(60_000);
    expect(await app.charged('sendChatMessage')).toBe(1);
    expect(await app.held()).toBe(0);
    await app.close();
  });
});

describe('a worker whose lease expires while the queue does not answer', () => {
  it('recovers its turn when the queue answers again', async () => {
    const app = await createTwoProcesses(() => undefined);
    await app.beginSecond();
    const { id } = await app.send('/api/chat', { message: 'Hello' });
    await app.settle();
    const [call] = app.model.calls;
    call?.say(...answerParts('Half of an answer'));
    await app.settle();
    await app.loseLeases(81_000);
    await app.pass(1_000);
    expect(await app.poll(id)).toMatchObject({ status: 'done', reply: 'Half of an answer' });
    expect(await app.charged('sendChatMessage')).toBe(1);
    expect(await app.held()).toBe(0);
    await app.close();
  });
});
