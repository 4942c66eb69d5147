import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { CONVERSATION_ENTRIES, CONVERSATIONS } from '../features/completions/conversations/records.ts';
import { SESSIONS } from '../features/sessions/records.ts';
import { STORAGE_USAGE } from '../features/storage/usage.ts';
import { createMemoryStore } from '../memory/store.ts';
import type { Store } from '../ports/store.ts';
import { wrapCollection } from '../ports/wrap-collection.ts';
import { type Conversation, createConversations } from './conversations.ts';

const OWNER = 'a'.repeat(24);

/** A store whose collections can be away, or change a session after it was read. */
function wrap(store: Store, state: { away: string; changes: number }): Store {
  return {
    ...store,
    transaction: (work, options) =>
      store.transaction((inner) => work(wrap(inner, { ...state, changes: 0 })), options),
    collection(definition) {
      const collection = store.collection(definition);
      const attempt = async <T>(work: () => Promise<T>): Promise<T> => {
        if (state.away === definition.name) throw new Error('the store is away');
        return work();
      };
      const wrapped = wrapCollection(collection, {
        insert: (...args) => attempt(() => collection.insert(...args)),
        update: (...args) => attempt(() => collection.update(...args)),
        add: (...args) => attempt(() => collection.add(...args)),
      });
      const get: typeof wrapped.get = async (...args) => {
        const record = await collection.get(...args);
        if (definition.name === SESSIONS.name && state.changes > 0) {
          state.changes -= 1;
          await store
            .collection(SESSIONS)
            .update(args[0], { lastUpdated: state.changes, name: `${state.changes}` });
        }
        return record;
      };
      return Object.assign(wrapped, { get });
    },
  };
}

function setUp(quota: number | null = null) {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const state = { away: '', changes: 0 };
  const services = {
    ...{ store: wrap(store, state), clock, ids: createFakeIds() },
    queue: { enqueue: async () => undefined } as never,
    questEvents: {} as never,
    storageQuotas: { artifacts: null, lakes: null, sessions: quota },
  };
  const sessions = store.collection(SESSIONS);
  const conversations = createConversations(services);
  const create = (message = 'Hello there', items: readonly unknown[] = []) =>
    conversations.create(OWNER, { metadata: { team: 'a' }, toItems: () => items, message });
  const usage = async () =>
    (await store.collection(STORAGE_USAGE).find({})).reduce((sum, { bytes }) => sum + bytes, 0);
  return { clock, store, state, sessions, conversations, create, usage };
}

const touch = { model: 'm', message: 'What is new?' };

describe('a conversation', () => {
  it('is a session with the same id, named by its first message, and found by its owner only', async () => {
    const { sessions, conversations, create, clock } = setUp();
    const made = await create();
    expect(made).toMatchObject({
      ownerId: OWNER,
      metadata: { team: 'a' },
      sequence: 0,
      items: 0,
      characters: 0,
    });
    expect(made.createdAt).toBe(clock.now());
    expect(await sessions.get(made.id)).toMatchObject({
      ...{ ownerId: OWNER, name: 'Hello there', automaticName: 'Hello there', isConversation: true },
    });
    expect(await conversations.find(OWNER, made.id)).toEqual(made);
    expect(await conversations.find('b'.repeat(24), made.id)).toBeUndefined();
    expect(await conversations.find(OWNER, 'no id')).toBeUndefined();
    expect(await conversations.readAll(made)).toEqual([]);
  });

  it('is not found without its session or its record', async () => {
    const { sessions, conversations, create, store } = setUp();
    const [one, other] = [await create(), await create()];
    await sessions.take(one.id);
    await store.collection(CONVERSATIONS).take(other.id);
    expect(await Promise.all([one, other].map(({ id }) => conversations.find(OWNER, id)))).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('is not created beyond the quota', async () => {
    const { sessions, create, usage } = setUp(1);
    await expect(create()).rejects.toMatchObject({ status: 422, code: 'limit_exceeded' });
    expect([await sessions.count({}), await usage()]).toEqual([0, 0]);
  });

  it.each<[string, Partial<Conversation>, object, string]>([
    ['the first one, if it has an automatic name', {}, {}, 'What is new?'],
    ['the first one, unless the user has named it', {}, { name: 'Mine' }, 'Mine'],
    ['no later one', { sequence: 1 }, {}, 'Hello there'],
  ])('is named by a response: %s', async (_, conversation, session, name) => {
    const { sessions, conversations, create, clock } = setUp();
    const made = await create();
    await sessions.update(made.id, session);
    await clock.advance(1000);
    await conversations.use({ ...made, ...conversation }, touch);
    const used = await sessions.get(made.id);
    expect(used).toMatchObject({ name, lastUsedModel: 'm', lastUpdated: clock.now() });
    expect(used?.automaticName).toBe(name === 'Mine' ? 'Hello there' : name);
  });

  it('counts its metadata for the quota', async () => {
    const { conversations, create, usage } = setUp();
    const made = await create();
    const before = await usage();
    expect(before).toBeGreaterThan(made.bytes);
    const more = await conversations.setMetadata(OWNER, made.id, { team: 'a', note: 'x'.repeat(100) });
    expect(more?.metadata).toEqual({ team: 'a', note: 'x'.repeat(100) });
    expect(await usage()).toBe(before + (more?.bytes ?? 0) - made.bytes);
    await conversations.setMetadata(OWNER, made.id, { team: 'a' });
    expect(await usage()).toBe(before);
    expect(await conversations.find(OWNER, made.id)).toEqual(made);
    for (const metadata of [{}, { note: 'x'.repeat(100) }])
      expect(await conversations.setMetadata('b'.repeat(24), made.id, metadata)).toBeUndefined();
    expect(await usage()).toBe(before);
  });

  it('counts its items for the quota, and has them in the order of their additions', async () => {
    const { sessions, conversations, create, usage, clock, store } = setUp();
    const made = await create('Hi', [{ type: 'message', content: 'one' }]);
    const before = await usage();
    await clock.advance(1000);
    const source = await conversations.add(made, (from) => [{ type: 'message', content: `two ${from}` }]);
    const entries = await conversations.readAll(made);
    expect(entries).toHaveLength(2);
    expect(JSON.stringify(entries[1])).toContain(`two ${source}`);
    const [, added] = await store
      .collection(CONVERSATION_ENTRIES)
      .find({}, { order: { field: 'sequence', direction: 'asc' } });
    expect(await usage()).toBe(before + (added?.bytes ?? 0));
    expect((await sessions.get(made.id))?.lastUpdated).toBe(clock.now());
  });

  it('that is deleted takes no items', async () => {
    const { conversations, create, store, usage, clock, sessions } = setUp();
    const made = await create();
    await store.collection(CONVERSATIONS).take(made.id);
    const [before, session] = [await usage(), await sessions.get(made.id)];
    await clock.advance(1000);
    expect(await conversations.add(made, () => [{ type: 'message', content: 'late' }])).toBeUndefined();
    expect([await usage(), await sessions.get(made.id)]).toEqual([before, session]);
  });

  it('is deleted once, by its owner', async () => {
    const { sessions, conversations, create } = setUp();
    const made = await create();
    expect(await conversations.remove('b'.repeat(24), made.id)).toBe(false);
    expect(await conversations.remove(OWNER, made.id)).toBe(true);
    expect(await sessions.count({})).toBe(0);
    expect(await conversations.remove(OWNER, made.id)).toBe(false);
  });

  it('is not extended beyond the quota', async () => {
    const { conversations, create, usage } = setUp(1000);
    const made = await create();
    const before = await usage();
    const add = conversations.add(made, () => [{ type: 'message', content: 'x'.repeat(1000) }]);
    await expect(add).rejects.toMatchObject({ status: 422, code: 'limit_exceeded' });
    const set = conversations.setMetadata(OWNER, made.id, { note: 'x'.repeat(1000) });
    await expect(set).rejects.toMatchObject({ status: 422, code: 'limit_exceeded' });
    expect([await conversations.readAll(made), await usage()]).toEqual([[], before]);
    expect(await conversations.find(OWNER, made.id)).toEqual(made);
  });

  it.each([
    [2, true],
    [3, false],
  ])('is deleted in spite of %i changes at the same time: %s', async (changes, isDeleted) => {
    const { conversations, create, state, sessions } = setUp();
    const { id } = await create();
    state.changes = changes;
    const removed = conversations.remove(OWNER, id);
    if (isDeleted) expect(await removed).toBe(true);
    else await expect(removed).rejects.toMatchObject({ status: 409 });
    expect(await sessions.count({})).toBe(isDeleted ? 0 : 1);
  });

  it('is not changed by halves while the store is away', async () => {
    const { conversations, create, state } = setUp();
    const made = await create();
    const item = () => [{ type: 'message', content: 'one' }];
    const steps: readonly (readonly [string, () => Promise<unknown>])[] = [
      [SESSIONS.name, () => create()],
      [CONVERSATIONS.name, () => create()],
      [SESSIONS.name, () => conversations.use(made, touch)],
      [SESSIONS.name, () => conversations.add(made, item)],
      [STORAGE_USAGE.name, () => conversations.add(made, item)],
      [STORAGE_USAGE.name, () => conversations.setMetadata(OWNER, made.id, {})],
    ];
    for (const [away, step] of steps) {
      state.away = away;
      await expect(step()).rejects.toThrow('the store is away');
    }
  });
});
