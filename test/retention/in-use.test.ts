import {
  ANALYTICS_EVENTS,
  CONVERSATIONS,
  FILES,
  QUESTS,
  RESPONSES,
  SESSIONS,
  WEBHOOK_DELIVERIES,
  WEBHOOKS,
} from '@questline/core/internal';
import type { Collection, Store, StoredRecord } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { NOW } from '../support/test-app.ts';
import { createPlace, DAY_MS, PLACES } from './place.ts';

type TestPlace = Awaited<ReturnType<typeof createPlace>>;

const WAITING = 8_640_000_000_000_000;
const HELD = {
  pending: { status: 'pending', liveSince: NOW },
  running: { status: 'running', liveSince: NOW, jobId: 'job' },
  waiting: { status: 'waiting', liveSince: WAITING },
  // A worker still stores its output.
  stopped: { status: 'stopped', jobId: 'job' },
  alsoStopped: { status: 'stopped', jobId: 'zjob' },
};

const findIds = async (store: Store, definition: typeof SESSIONS | typeof FILES): Promise<string[]> =>
  (await store.collection(definition as typeof SESSIONS).find({})).map(({ id }) => id).sort();

async function addFile(
  { store, ids, ownerId }: TestPlace,
  days: number,
  status: 'pending' | 'scanning' | 'clean' | 'blocked' = 'clean',
): Promise<string> {
  const id = ids.next();
  const file = { name: 'notes.txt', mimeType: 'text/plain', size: 1, source: 'upload' } as const;
  await store.collection(FILES).insert({ id, ownerId, ...file, status, createdAt: NOW - days * DAY_MS });
  return id;
}

/** Runs `then` after a page of records was found. */
function afterFind(name: string, then: () => Promise<unknown>): (store: Store) => Store {
  let isDone = false;
  return (store) => ({
    ...store,
    collection: (definition) => {
      const collection = store.collection(definition);
      if (definition.name !== name) return collection;
      return new Proxy(collection, {
        get(target, verb: keyof Collection<StoredRecord>) {
          const method = target[verb] as (...args: unknown[]) => Promise<unknown>;
          return async (...args: unknown[]) => {
            const answer = await method.apply(target, args);
            if (verb !== 'find' || isDone) return answer;
            isDone = true;
            await then();
            return answer;
          };
        },
      });
    },
    transaction: (work, options) => store.transaction(work, options),
  });
}

describe.each(PLACES)('records in use on $name', ({ open }) => {
  it.each(['by age', 'by number'])('keeps sessions whose turns have not ended, %s', async (way) => {
    const place = await createPlace(
      open,
      way === 'by age' ? { retention: { sessions: 30 } } : { keepNewest: { sessions: 1 } },
    );
    const { store } = place;
    const kept: string[] = [];
    for (const state of Object.values(HELD)) {
      const session = await place.addSession(50);
      await place.addTurn(session, 50);
      kept.push(await place.addQuest(session, 50, state));
    }
    const ended = await place.addSession(60);
    await place.addTurn(ended, 60);
    const never = await place.addSession(60);
    await place.addQuest(never, 60, { status: 'stopped' });
    const newest = await place.addSession(2);
    const sessions = await findIds(store, SESSIONS);
    expect(await place.run(true)).toMatchObject({ sessions: 2 });
    expect(await place.run()).toMatchObject({ sessions: 2 });
    expect(await findIds(store, SESSIONS)).toEqual(sessions.filter((id) => id !== ended && id !== never));
    for (const id of kept) {
      expect(await store.collection(QUESTS).get(id)).not.toHaveProperty('explanation');
      await store.collection(QUESTS).update(id, { status: 'done', liveSince: undefined });
    }
    expect(await place.run()).toMatchObject({ sessions: 5 });
    expect(await findIds(store, SESSIONS)).toEqual([newest]);
    expect(place.incidents).toEqual([]);
  });

  it('keeps a session that is used, or whose turn begins, after it was found', async () => {
    for (const kind of ['use', 'turn'] as const) {
      let act = async (): Promise<unknown> => undefined;
      const place = await createPlace(
        open,
        { retention: { sessions: 30 } },
        { watch: afterFind(kind === 'use' ? 'sessions' : 'quests', () => act()) },
      );
      const { store } = place;
      const session = await place.addSession(50);
      const other = await place.addSession(50);
      act = async () =>
        kind === 'use'
          ? store.collection(SESSIONS).update(session, { lastUpdated: NOW })
          : place.addQuest(session, 0, HELD.pending);
      expect(await place.run()).toMatchObject({ sessions: 1 });
      expect(await findIds(store, SESSIONS)).toEqual([session]);
      expect(other).not.toBe(session);
      expect(place.incidents).toEqual([]);
    }
  });

  it.each(['by age', 'by number'])(
    'goes on behind more sessions in use than one step finds, %s',
    async (way) => {
      const place = await createPlace(
        open,
        way === 'by age' ? { retention: { sessions: 30 } } : { keepNewest: { sessions: 1 } },
      );
      const { store } = place;
      await store.transaction(async (inner) => {
        for (let at = 0; at < 501; at += 1) {
          const id = place.ids.next();
          const time = NOW - 60 * DAY_MS;
          const { ownerId } = place;
          await inner
            .collection(SESSIONS)
            .insert({ id, ownerId, name: 's', firstCreated: time, lastUpdated: time } as never);
          const request = { payer: { account: `user:${ownerId}` }, requestId: '' };
          await inner.collection(QUESTS).insert({
            ...{ id: place.ids.next(), kind: 'chat', sessionId: id, ownerId, type: 'message', request },
            ...{ createdAt: time, updatedAt: time, ...HELD.waiting },
          } as never);
        }
      });
      // Behind in the order of each way.
      const behind = await place.addSession(way === 'by age' ? 50 : 70);
      const newest = await place.addSession(0);
      expect(await place.run(true)).toMatchObject({ sessions: 1 });
      expect(await place.run()).toMatchObject({ sessions: 1 });
      const left = await findIds(store, SESSIONS);
      expect(left).toHaveLength(502);
      expect([left.includes(behind), left.includes(newest)]).toEqual([false, true]);
    },
  );

  it.each(['pending', 'waiting'] as const)(
    'keeps a file that a turn names after it was found, and is %s',
    async (state) => {
      let act = async (): Promise<unknown> => undefined;
      const place = await createPlace(
        open,
        { retention: { files: 30 } },
        { watch: afterFind('quests', () => act()) },
      );
      const session = await place.addSession(0);
      const [attached, other] = [await addFile(place, 50), await addFile(place, 50)];
      const request = { payer: { account: '' }, requestId: '', fileIds: [attached] };
      act = () => place.addQuest(session, 0, { ...HELD[state], request });
      expect(await place.run()).toMatchObject({ files: 1 });
      expect(await findIds(place.store, FILES)).toEqual([attached]);
      expect(other).not.toBe(attached);
      expect(place.incidents).toEqual([]);
    },
  );

  it('keeps responses that run, and their conversations', async () => {
    const place = await createPlace(open, { retention: { responses: 1, sessions: 1 } });
    const { store, ownerId } = place;
    const responses: string[] = [];
    const conversations: string[] = [];
    for (const state of [HELD.pending, HELD.running, HELD.stopped, { status: 'done' }]) {
      const id = await place.addQuest('', 9, { kind: 'response', ...state });
      await store.collection(QUESTS).update(id, { sessionId: id });
      await store.collection(RESPONSES).insert({
        ...{ id, ownerId, wire: '', input: '', earlier: [], bytes: 0, createdAt: NOW - 9 * DAY_MS },
      });
      const conversation = await place.addSession(9);
      await store.collection(SESSIONS).update(conversation, { isConversation: true });
      await store.collection(CONVERSATIONS).insert({
        ...{ id: conversation, ownerId, metadata: {}, sequence: 0, items: 0, characters: 0 },
        ...{ current: id, bytes: 0, createdAt: NOW - 9 * DAY_MS },
      });
      responses.push(id);
      conversations.push(conversation);
    }
    expect(await place.run(true)).toMatchObject({ responses: 1, sessions: 1 });
    expect(await place.run()).toMatchObject({ responses: 1, sessions: 1 });
    expect((await store.collection(RESPONSES).find({})).map(({ id }) => id)).toEqual(responses.slice(0, 3));
    expect(await findIds(store, SESSIONS)).toEqual(conversations.slice(0, 3).toSorted());
    expect(await store.collection(QUESTS).get(responses[1] ?? '')).toMatchObject({ status: 'running' });
  });

  it.each(['by age', 'by number'])(
    'keeps files that are not moderated, and those of turns that have not ended, %s',
    async (way) => {
      const place = await createPlace(
        open,
        way === 'by age' ? { retention: { files: 30 } } : { keepNewest: { files: 2 } },
      );
      const { store } = place;
      const session = await place.addSession(50);
      const addKnowledge = async () => {
        const id = await addFile(place, 45);
        await store.collection(SESSIONS).update(session, { knowledgeIds: [id] });
        return id;
      };
      const kept = [
        await addFile(place, 40, 'pending'),
        await addFile(place, 40, 'scanning'),
        await addKnowledge(),
        await addFile(place, 50),
        await addFile(place, 50),
        await addFile(place, 1.5),
        await addFile(place, 0),
      ];
      const attached = kept[3];
      const made = kept[4] ?? '';
      const payer = { account: '' };
      await place.addQuest(session, 50, {
        ...HELD.waiting,
        request: { payer, requestId: '', fileIds: [attached] },
      });
      const files = [{ name: 'n', fileId: made, isImage: true, isAudio: false, isVideo: false }];
      await place.addQuest(session, 50, { ...HELD.running, files });
      const gone = [await addFile(place, 40), await addFile(place, 40, 'blocked'), await addFile(place, 55)];
      await place.addQuest(session, 50, { request: { payer, requestId: '', fileIds: [gone[2]] } });
      expect(await place.run(true)).toMatchObject({ files: 3 });
      expect(await place.run()).toMatchObject({ files: 3 });
      expect(await findIds(store, FILES)).toEqual(kept.toSorted());
      expect(place.incidents).toEqual([]);
    },
  );

  it('keeps pending webhook deliveries for 30 more days, and the newest of each webhook', async () => {
    const place = await createPlace(open, { retention: { deliveries: 7 }, keepNewest: { deliveries: 2 } });
    const { store } = place;
    await store
      .collection(WEBHOOKS)
      .insert({ id: 'hook', owner: '', status: 'active', createdAt: 0 } as never);
    const add = async (days: number, status: string) =>
      store.collection(WEBHOOK_DELIVERIES).insert({
        ...{ id: `d${days}`, webhookId: 'hook', eventId: '', type: '', payload: '', status, attempts: 0 },
        ...{ failures: 0, since: 0, createdAt: NOW - days * DAY_MS },
      } as never);
    for (const days of [36, 38, 8.5, 4.5, 0.7]) await add(days, 'pending');
    for (const days of [8, 4, 3, 2, 0.5]) await add(days, days === 4 ? 'failed' : 'delivered');
    expect(await place.run()).toMatchObject({ deliveries: 4 });
    const left = await store.collection(WEBHOOK_DELIVERIES).find({});
    expect(left.map(({ id }) => id).sort()).toEqual(['d0.5', 'd0.7', 'd2', 'd36', 'd4.5', 'd8.5']);
  });

  it('keeps the newest client events of each user', async () => {
    const place = await createPlace(open, { keepNewest: { analytics: 3 } });
    const events = place.store.collection(ANALYTICS_EVENTS);
    const event = { userId: place.ownerId, event: 'opened', properties: {} };
    for (const days of [9, 8, 7, 6, 5]) {
      await events.insert({ id: `e${days}`, ...event, createdAt: NOW - days * DAY_MS });
    }
    expect(await place.run(true)).toMatchObject({ analytics: 2 });
    expect(await place.run()).toMatchObject({ analytics: 2 });
    expect((await events.find({})).map(({ id }) => id)).toEqual(['e5', 'e6', 'e7']);
  });
});
