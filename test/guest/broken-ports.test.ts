import type { Publisher, Store } from '@questline/core';
import { API_KEYS } from '@questline/core';
import { createMemoryPublisher } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import { createChatWorld } from '../support/chat.ts';
import { createScriptedProvider, eventsOf } from '../support/model.ts';
import { createWorld } from '../support/world.ts';

const away = (): never => {
  throw new Error('away');
};

const QUESTION = { model: 'scripted', messages: [{ role: 'user', content: '0123456789' }] };

/** What throws from a timer, or from what nobody waits for, would end the process. */
describe('a port of the host that throws where it should reject', () => {
  it('costs no stream: a ledger that cannot renew or sweep still settles once', async () => {
    const provider = createScriptedProvider((call) => call.say({ type: 'text', text: 'Hi' }));
    const world = await createWorld({
      models: [provider],
      ledger: (ledger) => ({ ...ledger, renew: away, sweep: away }),
    });
    await world.api.start();
    const response = await world.ask('POST', '/api/ai/v1/completions', { body: QUESTION });
    await world.clock.advance(20 * 60_000);
    const [call] = provider.calls;
    call?.say({ type: 'usage', usage: { input: 4, output: 2 } });
    call?.end();
    expect(eventsOf(await response.text()).at(-1)).toBe('[DONE]');
    expect((await world.ledger.charges({ account: world.account }, 9)).map(({ amount }) => amount)).toEqual([
      60_000,
    ]);
    const told = new Set(world.incidents.map(({ operation }) => operation));
    expect(told).toEqual(new Set(['createCompletion', 'chore:sweep-holds']));
    await world.api.close();
  });

  it('refuses nobody: a store that cannot note when a key was used', async () => {
    const world = await createWorld({ store: (store) => withoutKeyUpdates(store) });
    expect((await world.ask('GET', '/api/v1/me')).status).toBe(200);
    expect(world.incidents.map(({ operation }) => operation)).toEqual(['authenticate']);
  });

  it('keeps nobody from starting: a publisher that cannot be listened to yet', async () => {
    const memory = createMemoryPublisher();
    let isAway = true;
    const provider = createScriptedProvider();
    const world = await createChatWorld({
      started: false,
      model: provider,
      publisher: {
        publish: memory.publish,
        subscribe: async (...subscription) => (isAway ? away() : memory.subscribe(...subscription)),
      },
    });
    await world.api.start();
    expect(world.incidents.map(({ operation }) => operation)).toEqual(['subscribe']);
    isAway = false;
    await world.clock.advance(60_000);
    const { id } = (await world.chat({ message: 'Hi' })).body;
    await world.settle();
    await world.json('POST', `/api/v1/quests/${id}/cancel`);
    await world.settle();
    expect(provider.calls[0]?.stopped).toBe(true);
    await world.api.close();
    expect(world.clock.pending).toBe(0);
  });

  it('undoes nothing: a publisher that can tell nobody of a revocation', async () => {
    const publisher: Publisher = { publish: away, subscribe: away };
    const world = await createWorld({ publisher });
    const credential = await world.token();
    const revoke = `/api/user-api-keys/${world.keyId}/revoke`;
    expect((await world.ask('GET', '/api/v1/me')).status).toBe(200);
    expect((await world.ask('POST', revoke, { credential, body: {} })).status).toBe(200);
    expect((await world.ask('GET', '/api/v1/me')).status).toBe(401);
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
