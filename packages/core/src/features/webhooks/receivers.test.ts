import { setImmediate as turn } from 'node:timers/promises';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryPorts } from '../../memory/index.ts';
import type { Store } from '../../ports/store.ts';
import { createWebhookReceivers } from './receivers.ts';
import { WEBHOOKS } from './records.ts';

async function createStore(): Promise<Store> {
  const { store } = createMemoryPorts();
  await store.collection(WEBHOOKS).insert({
    ...{ id: 'w', owner: 'user:u', organizationId: null, createdBy: 'u', url: 'https://a.example.com' },
    ...{ description: '', types: ['quest.done'], status: 'active', sealedSecret: '', createdAt: 1 },
  });
  return store;
}

/** Answers in a later turn of the event loop, as a database does. */
function slowly(store: Store): Store {
  return {
    ...store,
    collection(definition) {
      const collection = store.collection(definition);
      return {
        ...collection,
        async find(...args) {
          await turn();
          return collection.find(...args);
        },
      };
    },
  };
}

describe('createWebhookReceivers', () => {
  it('gives concurrent first changes the same answer, so that none is skipped', async () => {
    const store = slowly(await createStore());
    const receivers = createWebhookReceivers({ store, clock: createFakeClock(), onError: () => undefined });
    const answers = await Promise.all(
      Array.from({ length: 5 }, async () => {
        await receivers.refresh();
        return receivers.wants('quest.done');
      }),
    );
    expect(answers).toEqual([true, true, true, true, true]);
  });

  it('writes events while the store cannot be asked for webhooks', async () => {
    const errors: unknown[] = [];
    const store: Store = {
      collection: () => ({ find: async () => Promise.reject(new Error('away')) }) as never,
      transaction: () => Promise.reject(new Error('away')),
    };
    const receivers = createWebhookReceivers({
      store,
      clock: createFakeClock(),
      onError: ({ error }) => errors.push(error),
    });
    await receivers.refresh();
    expect(receivers.wants('quest.done')).toBe(true);
    expect(errors).toHaveLength(1);
  });

  it('looks again after five seconds, or at once after a change', async () => {
    const store = await createStore();
    const webhooks = store.collection(WEBHOOKS);
    const clock = createFakeClock();
    const receivers = createWebhookReceivers({ store, clock, onError: () => undefined });
    expect([receivers.isActive(), receivers.wants('quest.done')]).toEqual([false, false]);
    await receivers.refresh();
    expect([receivers.isActive(), receivers.wants('quest.done')]).toEqual([true, true]);
    expect(receivers.wants('charge.settled')).toBe(false);
    await webhooks.update('w', { status: 'disabled' });
    await clock.advance(4999);
    expect(receivers.refresh()).toBeUndefined();
    await clock.advance(1);
    await receivers.refresh();
    expect([receivers.isActive(), receivers.wants('quest.done')]).toEqual([false, false]);
    await webhooks.update('w', { status: 'active' });
    receivers.forget();
    await receivers.refresh();
    expect(receivers.isActive()).toBe(true);
  });
});
