import { API_KEYS } from '@questline/core/internal';
import { createMemoryPublisher } from '@questline/core/memory';
import type { Publisher, Store } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';
import { createScriptedProvider, getEvents } from '../support/model.ts';
import { createTestApp } from '../support/test-app.ts';

const away = (): never => {
  throw new Error('away');
};

const QUESTION = { model: 'scripted', messages: [{ role: 'user', content: '0123456789' }] };

/** An error thrown by a timer or an unhandled promise would end the process. */
describe('host port that throws instead of rejecting', () => {
  it('does not prevent a single settlement of a stream when the ledger cannot renew or sweep', async () => {
    const provider = createScriptedProvider((call) => call.say({ type: 'text', text: 'Hi' }));
    const app = await createTestApp({
      models: [provider],
      ledger: (ledger) => ({ ...ledger, renew: away, renewAll: away, sweep: away }),
    });
    await app.api.start();
    const response = await app.ask('POST', '/api/ai/v1/completions', { body: QUESTION });
    await app.clock.advance(20 * 60_000);
    const [call] = provider.calls;
    call?.say({ type: 'usage', usage: { input: 4, output: 2 } });
    call?.end();
    expect(getEvents(await response.text()).at(-1)).toBe('[DONE]');
    expect((await app.ledger.charges({ account: app.account }, 9)).map(({ amount }) => amount)).toEqual([
      60_000,
    ]);
    const reported = new Set(app.incidents.map(({ operation }) => operation));
    expect(reported).toEqual(new Set(['hold-heartbeat', 'chore:sweep-holds']));
    await app.api.close();
  });

  it('rejects no request when the store cannot record the use of a key', async () => {
    const app = await createTestApp({ store: (store) => withoutKeyUpdates(store) });
    expect((await app.ask('GET', '/api/v1/me')).status).toBe(200);
    expect(app.incidents.map(({ operation }) => operation)).toEqual(['authenticate']);
  });

  it('does not prevent the start when the publisher cannot be subscribed to yet', async () => {
    const memory = createMemoryPublisher();
    let isAway = true;
    const provider = createScriptedProvider();
    const app = await createChatApp({
      started: false,
      model: provider,
      publisher: {
        publish: memory.publish,
        subscribe: async (...subscription) => (isAway ? away() : memory.subscribe(...subscription)),
      },
    });
    await app.api.start();
    // Stops of quests, and readers in other processes.
    expect(app.incidents.map(({ operation }) => operation)).toEqual(['subscribe', 'subscribe']);
    isAway = false;
    await app.clock.advance(60_000);
    const { id } = (await app.chat({ message: 'Hi' })).body;
    await app.settle();
    await app.json('POST', `/api/v1/quests/${id}/cancel`);
    await app.settle();
    expect(provider.calls[0]?.stopped).toBe(true);
    await app.api.close();
    expect(app.clock.pending).toBe(0);
  });

  it('does not prevent a revocation when the publisher cannot publish it', async () => {
    const publisher: Publisher = { publish: away, subscribe: away };
    const app = await createTestApp({ publisher });
    const credential = await app.token();
    const revoke = `/api/user-api-keys/${app.keyId}/revoke`;
    expect((await app.ask('GET', '/api/v1/me')).status).toBe(200);
    expect((await app.ask('POST', revoke, { credential, body: {} })).status).toBe(200);
    expect((await app.ask('GET', '/api/v1/me')).status).toBe(401);
  });
});

function withoutKeyUpdates(store: Store): Store {
  return {
    ...store,
    collection(definition) {
      const collection = store.collection(definition);
      return definition.name === API_KEYS.name ? { ...collection, update: away } : collection;
    },
  };
}
