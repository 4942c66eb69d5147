import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import type { ModelInfo, ModelProvider } from '../ports/models.ts';
import type { Store } from '../ports/store.ts';
import { createCatalogue } from './catalogue.ts';
import { createOwnModels } from './own-models.ts';
import { activeFor, getPlace, PROVIDER_KEYS } from './provider-keys-records.ts';
import { createSecretBox } from './secret-box.ts';

const MODEL: ModelInfo = {
  ...{ id: 'm', name: 'M', type: 'text', provider: 'openai' },
  ...{ contextWindow: 1000, maxOutputTokens: 100, prices: { input: 1, output: 1 } },
};

function setUp(change: (store: Store) => Store = (store) => store) {
  const clock = createFakeClock();
  const ids = createFakeIds();
  const plain = createMemoryStore();
  const box = createSecretBox(new Uint8Array(32).fill(7), ids);
  const calls: { readonly model: string; readonly apiKey: unknown; readonly signal: unknown }[] = [];
  const provider: ModelProvider = {
    id: 'openai',
    models: () => [MODEL],
    generate: async ({ model }, { apiKey, signal }) => {
      calls.push({ model, apiKey, signal });
      return { async *[Symbol.asyncIterator]() {} } as never;
    },
  };
  const options = { providers: [provider], creditsPerUsd: 1, overrides: { m: { name: 'Renamed' } } };
  const catalogue = createCatalogue(options);
  const errors: unknown[] = [];
  let reads = 0;
  const store: Store = change({
    ...plain,
    collection(definition) {
      const records = plain.collection(definition);
      return {
        ...records,
        find: (...given) => {
          reads += 1;
          return records.find(...given);
        },
      };
    },
  });
  const onError = (error: unknown) => void errors.push(error);
  const own = createOwnModels({ store, clock, box, catalogue, options, onError });
  const keys = plain.collection(PROVIDER_KEYS);
  return {
    ...{ calls, catalogue, clock, errors, keys, own },
    getReads: () => reads,
    async add(userId: string, lastUsedAt: number | null = null, isActive = true): Promise<string> {
      const id = ids.next();
      const facts = { name: 'k', service: 'openai', keyPreview: 'wxyz', isActive, lastUsedAt } as const;
      const sealed = box.seal(`key of ${userId}`, getPlace({ userId, id }));
      const place = isActive ? { activeFor: activeFor({ userId, service: 'openai' }) } : {};
      await keys.insert({ id, userId, sealed, createdAt: clock.now(), ...facts, ...place });
      return id;
    },
    async use(userId: string, signal?: AbortSignal): Promise<void> {
      const entry = (await own.getCatalogue(userId)).find('m');
      await entry?.provider.generate({ model: 'm', messages: [] } as never, { ...(signal && { signal }) });
    },
  };
}

describe('models of a user with keys', () => {
  it('are called with the active key of the user, and are those of the workspace without one', async () => {
    const { add, calls, catalogue, own, use } = setUp();
    await add('ada');
    await add('grace', null, false);
    expect(await own.getCatalogue('grace')).toBe(catalogue);
    expect(await own.getCatalogue('none')).toBe(catalogue);
    const { signal } = new AbortController();
    await use('ada', signal);
    await use('grace');
    expect(calls).toEqual([
      { model: 'm', apiKey: 'key of ada', signal },
      { model: 'm', apiKey: undefined, signal: undefined },
    ]);
    // With the settings of the workspace, and free.
    const entry = (await own.getCatalogue('ada')).find('m');
    expect(entry).toMatchObject({ ownKey: true, prices: { input: 0 }, info: { name: 'Renamed' } });
  });

  it('are read again after 1.5 s, or at once after a change in this process', async () => {
    const { add, clock, getReads, own } = setUp();
    const id = await add('ada');
    const first = await own.getCatalogue('ada');
    expect(own.getCatalogue('ada')).toBe(first);
    await clock.advance(1499);
    expect(own.getCatalogue('ada')).toBe(first);
    expect(getReads()).toBe(1);
    await clock.advance(1);
    // The same keys: the same catalogue.
    expect(await own.getCatalogue('ada')).toBe(first);
    expect(getReads()).toBe(2);
    own.forget('ada');
    expect(await own.getCatalogue('ada')).not.toBe(first);
    expect(getReads()).toBe(3);
    expect(id).not.toBe('');
  });

  it('are not remembered from a read that began before a change', async () => {
    const { add, getReads, own } = setUp();
    await add('ada');
    const before = own.getCatalogue('ada');
    own.forget('ada');
    await before;
    await own.getCatalogue('ada');
    expect(getReads()).toBe(2);
  });
});

describe('models of many users who come again', () => {
  const COUNT = 300;
  const USERS = Array.from({ length: COUNT }, (_, index) => `user-${index}`);

  async function openUsers() {
    const opened = setUp();
    // As many as a read returns.
    for (let index = 0; index < 1000; index += 1) await opened.add(`absent-${index}`);
    for (const user of USERS) if (user.endsWith('0')) await opened.add(user);
    const askAll = () => Promise.all(USERS.map((user) => opened.own.getCatalogue(user)));
    for (let time = 0; time < 2; time += 1) {
      await askAll();
      await opened.clock.advance(2010);
    }
    return { ...opened, askAll };
  }

  it('are read together, at most 250 users at once', async () => {
    const { clock, getReads, askAll, catalogue } = await openUsers();
    const before = getReads();
    const first = await askAll();
    await clock.advance(2010);
    expect(await askAll()).toEqual(first);
    expect(getReads() - before).toBe(4);
    expect(new Set(first).size).toBe(COUNT / 10 + 1);
    expect(first[1]).toBe(catalogue);
  });

  it('know a key that another process has added or removed within 1.5 s', async () => {
    const { add, clock, keys, own, askAll, catalogue } = await openUsers();
    await askAll();
    const id = await add('user-1');
    const [old] = await keys.find({ userId: 'user-0' });
    await keys.update(old?.id ?? '', { isActive: false, activeFor: undefined });
    await clock.advance(1000);
    expect(own.getCatalogue('user-0')).toBe(catalogue);
    expect((own.getCatalogue('user-1') as typeof catalogue).find('m')).toMatchObject({ ownKey: true });
    await keys.update(id, { sealed: 'another' });
    const before = own.getCatalogue('user-1');
    await clock.advance(1000);
    expect(own.getCatalogue('user-1')).not.toBe(before);
  });

  it('are not read again after the end', async () => {
    const { clock, getReads, own, askAll } = await openUsers();
    await askAll();
    own.close();
    const before = getReads();
    await clock.advance(10_000);
    expect(getReads()).toBe(before);
  });
});

describe('last use of a key', () => {
  it('is written at most once a minute', async () => {
    const { add, clock, keys, use } = setUp();
    const id = await add('ada');
    const getLast = async () => (await keys.get(id))?.lastUsedAt;
    await use('ada');
    const first = clock.now();
    expect(await getLast()).toBe(first);
    await clock.advance(59_999);
    await use('ada');
    expect(await getLast()).toBe(first);
    await clock.advance(1);
    await use('ada');
    expect(await getLast()).toBe(first + 60_000);
  });

  it('counts the uses that another process has written', async () => {
    const { add, clock, keys, use } = setUp();
    const last = clock.now() - 59_999;
    const id = await add('ada', last);
    await use('ada');
    expect((await keys.get(id))?.lastUsedAt).toBe(last);
    await clock.advance(1);
    await use('ada');
    expect((await keys.get(id))?.lastUsedAt).toBe(clock.now());
  });

  it('does not matter to the call if it cannot be written', async () => {
    const away = new Error('away');
    const { add, calls, clock, errors, use } = setUp((store) => ({
      ...store,
      collection: (definition) => ({
        ...store.collection(definition),
        update: () => Promise.reject(away),
      }),
    }));
    await add('ada');
    await use('ada');
    await clock.advance(1);
    expect([calls.length, errors]).toEqual([1, [away]]);
  });
});

it('rejects a call with a key that was stored under another secret', async () => {
  const { add, errors, keys, use } = setUp();
  const id = await add('ada');
  await keys.update(id, { sealed: 'v1.x' });
  await expect(use('ada')).rejects.toThrow(`provider key ${id} was stored under another secretEncryptionKey`);
  expect(errors).toEqual([]);
});
