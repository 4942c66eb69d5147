import { COLLECTIONS, createUser } from '@questline/core';
import { FILES, QUESTS, SESSIONS } from '@questline/core/internal';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createShardDirectory, createSqlPorts, migrate, SHARD_COLLECTIONS, shard } from '@questline/sql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Engine, POSTGRES, POSTGRES_URL, SQLITE_MEMORY } from '../../packages/sql/test/engines.ts';
import { NOW } from '../support/test-app.ts';
import { createPlace, DAY_MS } from './place.ts';

const ENGINES: readonly Engine[] = [SQLITE_MEMORY, ...(POSTGRES_URL === undefined ? [] : [POSTGRES])];
const clock = createSystemClock();
const ids = createIds();

async function openDatabase(engine: Engine) {
  const { database, close } = await engine.open();
  onTestFinished(close);
  await migrate(database, { collections: [...COLLECTIONS, ...SHARD_COLLECTIONS] });
  return createSqlPorts(database, { clock, ids });
}

describe.each(ENGINES)('retention over two shards on $name', (engine) => {
  it('deletes what is old on each, and keeps what is in use', async () => {
    const [home, a, b] = [await openDatabase(engine), await openDatabase(engine), await openDatabase(engine)];
    let placed = 0;
    const directory = createShardDirectory({
      store: home.store,
      shards: ['a', 'b'],
      choose: () => (placed++ % 2 === 0 ? 'a' : 'b'),
    });
    const { store } = shard({ home, shards: { a, b }, directory });
    const place = await createPlace(
      async () => undefined,
      { retention: { sessions: 30, files: 30 }, keepNewest: { sessions: 1, files: 1 } },
      { toStore: () => store },
    );
    const other = await createUser(place.services, { email: 'bea@example.com', username: 'bea' });
    const owners = [place.ownerId, other?.id ?? ''];
    const kept: string[] = [];
    for (const ownerId of owners) {
      const add = async (days: number): Promise<string> => {
        const id = ids.next();
        const time = NOW - days * DAY_MS;
        const session = { id, ownerId, name: 's', firstCreated: time, lastUpdated: time };
        expect(await store.collection(SESSIONS).insert(session as never)).toBe(true);
        return id;
      };
      const addFile = async (days: number): Promise<string> => {
        const id = ids.next();
        const file = {
          name: 'n',
          mimeType: 'text/plain',
          size: 1,
          status: 'clean',
          source: 'upload',
        } as const;
        await store.collection(FILES).insert({ id, ownerId, ...file, createdAt: NOW - days * DAY_MS });
        return id;
      };
      await add(40);
      await add(3);
      await addFile(40);
      await addFile(3);
      const attached = await addFile(50);
      const waits = await add(50);
      kept.push(await add(2), waits, await addFile(2), attached);
      const request = { payer: { account: `user:${ownerId}` }, requestId: '', fileIds: [attached] };
      await store.collection(QUESTS).insert({
        ...{ id: ids.next(), kind: 'chat', sessionId: waits, ownerId, status: 'waiting', type: 'message' },
        ...{ request, liveSince: 8_640_000_000_000_000, createdAt: NOW, updatedAt: NOW },
      } as never);
    }
    expect(await directory.find(owners[0] ?? '')).not.toBe(await directory.find(owners[1] ?? ''));
    expect(await place.run(true)).toMatchObject({ sessions: 4, files: 4 });
    expect(await place.run()).toMatchObject({ sessions: 4, files: 4 });
    const left = [
      ...(await store.collection(SESSIONS).find({})),
      ...(await store.collection(FILES).find({})),
    ];
    expect(left.map(({ id }) => id).sort()).toEqual(kept.toSorted());
    expect(place.incidents).toEqual([]);
  });
});
