import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import { defineCollection, type Store, type StoredRecord } from '../ports/store.ts';
import { captureAudit } from './audit-capture.ts';
import { AUDIT_LOG } from './audit-records.ts';
import { type AuditSource, defineAuditSource } from './audit-source.ts';

interface Thing extends StoredRecord {
  readonly name: string;
  readonly note?: string;
  readonly size: number;
}

const shape = { columns: { name: 'text', size: 'integer' }, unique: [], indexes: [] } as const;
const THINGS = defineCollection<Thing>({ name: 'things', ...shape });
const OTHERS = defineCollection<Thing>({ name: 'others', ...shape });
const A: Thing = { id: 'a', name: 'old', size: 1 };

/** Records each change of the name, as an act of this text. */
function createSource(acts: Pick<AuditSource, 'inserts' | 'deletions'> = {}): AuditSource {
  return defineAuditSource({
    collection: THINGS,
    fields: ['name', 'note'],
    ...acts,
    toEntries: ({ before, after }) => [
      { action: 'user.updated', target: { type: 'thing', id: `${before?.name ?? ''}>${after?.name ?? ''}` } },
    ],
  });
}

const ALL = { inserts: true, deletions: true };

function setUp(acts: Pick<AuditSource, 'inserts' | 'deletions'> = ALL, plain: Store = createMemoryStore()) {
  let transactions = 0;
  const counting: Store = {
    ...plain,
    transaction(work, options) {
      transactions += 1;
      return plain.transaction(work, options);
    },
  };
  const clock = createFakeClock();
  const store = captureAudit(counting, [createSource(acts)], clock);
  const listActs = async () => (await plain.collection(AUDIT_LOG).find({})).map((one) => one.targetId).sort();
  return { clock, plain, store, listActs, countTransactions: () => transactions };
}

describe('changes of an audited collection', () => {
  it('are recorded with the actor and the time', async () => {
    const { clock, plain, store } = setUp();
    await store.collection(THINGS).insert(A);
    await store.actAs({ type: 'user', userId: 'ada' }).collection(THINGS).take('a');
    expect(await plain.collection(AUDIT_LOG).find({ targetId: '>old' })).toMatchObject([
      { actorType: 'service', createdAt: clock.now() },
    ]);
    expect(await plain.collection(AUDIT_LOG).find({ targetId: 'old>' })).toMatchObject([
      { actorType: 'user', actorId: 'ada' },
    ]);
  });

  it.each([false, true])(
    'are recorded with what was before and after (in a transaction: %s)',
    async (isInside) => {
      const { store, listActs } = setUp();
      const change = async (where: Store) => {
        const things = where.collection(THINGS);
        expect(await things.insert(A)).toBe(true);
        expect(await things.update('a', { name: 'new' })).toEqual({ ...A, name: 'new' });
        expect(await things.take('a', { name: 'new' })).toEqual({ ...A, name: 'new' });
      };
      await (isInside ? store.transaction(change) : change(store));
      expect(await listActs()).toEqual(['>old', 'new>', 'old>new']);
    },
  );

  it.each([false, true])('that do not happen are not recorded (in a transaction: %s)', async (isInside) => {
    const { plain, store, listActs } = setUp();
    await plain.collection(THINGS).insert(A);
    const change = async (where: Store) => {
      const things = where.collection(THINGS);
      expect(await things.insert(A)).toBe(false);
      expect(await things.update('a', { name: 'new' }, { size: 2 })).toBeUndefined();
      expect(await things.update('b', { name: 'new' })).toBeUndefined();
      expect(await things.take('a', { size: 2 })).toBeUndefined();
      expect(await things.removeWhere?.({ size: 2 })).toBe(0);
    };
    await (isInside ? store.transaction(change) : change(store));
    expect(await listActs()).toEqual([]);
    expect(await plain.collection(THINGS).get('a')).toEqual(A);
  });

  it.each([false, true])(
    'of other fields are written as they are (in a transaction: %s)',
    async (isInside) => {
      const { plain, store, listActs, countTransactions } = setUp();
      await plain.collection(THINGS).insert(A);
      const change = async (where: Store) => {
        const things = where.collection(THINGS);
        expect(await things.update('a', { size: 2 }, { size: 1 })).toEqual({ ...A, size: 2 });
        expect(await things.update('a', { size: 3 }, { size: 1 })).toBeUndefined();
        expect(await things.add('a', { size: 1 })).toEqual({ ...A, size: 3 });
      };
      await (isInside ? store.transaction(change) : change(store));
      expect(await listActs()).toEqual([]);
      expect(countTransactions()).toBe(isInside ? 1 : 0);
    },
  );

  it.each([false, true])(
    'that delete many records are recorded each (in a transaction: %s)',
    async (isInside) => {
      const { plain, store, listActs } = setUp();
      for (const id of ['a', 'b', 'c']) await plain.collection(THINGS).insert({ ...A, id, name: id });
      const change = async (where: Store) => {
        const things = where.collection(THINGS);
        expect(await things.removeWhere?.({ name: { in: ['a', 'b'] } }, { limit: 1 })).toBe(1);
        expect(await things.removeWhere?.({ name: { in: ['a', 'b'] } })).toBe(1);
      };
      await (isInside ? store.transaction(change) : change(store));
      expect(await listActs()).toEqual(['a>', 'b>']);
      expect(await plain.collection(THINGS).count({})).toBe(1);
    },
  );

  it.each([false, true])(
    'are acts only where the source says so (in a transaction: %s)',
    async (isInside) => {
      const { store, listActs, countTransactions } = setUp({});
      const change = async (where: Store) => {
        const things = where.collection(THINGS);
        await things.insert(A);
        await things.insert({ ...A, id: 'b' });
        await things.take('a');
        await things.removeWhere?.({ size: 1 });
      };
      await (isInside ? store.transaction(change) : change(store));
      expect(await listActs()).toEqual([]);
      expect(countTransactions()).toBe(isInside ? 1 : 0);
    },
  );

  it('are undone with their entries', async () => {
    const { plain, store, listActs } = setUp();
    const failed = store.transaction(async (inner) => {
      await inner.collection(THINGS).insert(A);
      throw new Error('away');
    });
    await expect(failed).rejects.toThrow('away');
    expect([await plain.collection(THINGS).count({}), await listActs()]).toEqual([0, []]);
  });

  it('are undone if the entry cannot be written', async () => {
    const plain = createMemoryStore();
    const away: Store = {
      ...plain,
      transaction: (work, options) =>
        plain.transaction((inner) => {
          const refuse = {
            ...inner.collection(AUDIT_LOG),
            insert: () => Promise.reject(new Error('log away')),
          };
          return work({
            ...inner,
            collection: (definition) =>
              definition.name === AUDIT_LOG.name ? (refuse as never) : inner.collection(definition),
          });
        }, options),
    };
    await plain.collection(THINGS).insert(A);
    const { store } = setUp(ALL, away);
    const things = store.collection(THINGS);
    await expect(things.insert({ ...A, id: 'b' })).rejects.toThrow('log away');
    await expect(things.update('a', { name: 'new' })).rejects.toThrow('log away');
    await expect(things.take('a')).rejects.toThrow('log away');
    expect(await plain.collection(THINGS).find({})).toEqual([A]);
  });
});

it('passes options on', async () => {
  const { plain, store } = setUp();
  await plain.collection(THINGS).insert(A);
  const options = { signal: AbortSignal.abort(new Error('stopped')) };
  const things = store.collection(THINGS);
  const changes = [
    () => things.insert({ ...A, id: 'b' }, options),
    () => things.update('a', { name: 'new' }, undefined, options),
    () => things.update('a', { size: 2 }, undefined, options),
    () => things.take('a', undefined, options),
    () => store.transaction(async () => undefined, options),
  ];
  for (const change of changes) await expect(change()).rejects.toThrow('stopped');
  expect(await plain.collection(THINGS).find({})).toEqual([A]);
});

it.each([false, true])('leaves other collections alone (in a transaction: %s)', async (isInside) => {
  const { store, listActs } = setUp();
  const change = async (where: Store) => {
    await where.collection(OTHERS).insert(A);
    await where.collection(OTHERS).update('a', { name: 'new' });
    expect(await where.collection(OTHERS).take('a')).toEqual({ ...A, name: 'new' });
  };
  await (isInside ? store.transaction(change) : change(store));
  expect(await listActs()).toEqual([]);
});

it.each([false, true])('refuses changes of entries (in a transaction: %s)', async (isInside) => {
  const { store, listActs } = setUp();
  await store.collection(THINGS).insert(A);
  const check = async (where: Store) => {
    const log = where.collection(AUDIT_LOG);
    const [entry] = await log.find({});
    const id = entry?.id ?? '';
    await expect(log.update(id, { targetId: 'x' })).rejects.toThrow('neither changed nor deleted');
    await expect(log.add(id, {})).rejects.toThrow('neither changed nor deleted');
    await expect(log.take(id)).rejects.toThrow('neither changed nor deleted');
    await expect(log.removeWhere?.({})).rejects.toThrow('neither changed nor deleted');
  };
  await (isInside ? store.transaction(check) : check(store));
  expect(await listActs()).toEqual(['>old']);
});

it('begins no transaction in another one', async () => {
  const nested = setUp().store.transaction((inner) => inner.transaction(async () => undefined));
  await expect(nested).rejects.toThrow('transactions do not nest');
});
