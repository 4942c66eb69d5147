import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import type { Store } from '../ports/store.ts';
import { type NewAuditEntry, recordAudit, SERVICE_ACTOR } from './audit.ts';
import { createAuditLog } from './audit-log.ts';
import { AUDIT_LOG, type AuditActor, type AuditRecord } from './audit-records.ts';

const ADA = 'a'.repeat(24);
const BOB = 'b'.repeat(24);
const KEY = 'c'.repeat(24);

function setUp(around: (store: Store) => Store = (store) => store) {
  const clock = createFakeClock();
  const plain = createMemoryStore();
  const log = createAuditLog({ store: around(plain), clock, ids: createFakeIds() });
  const add = (entry: Partial<NewAuditEntry>, actor: AuditActor = SERVICE_ACTOR): Promise<void> => {
    const target = { type: 'key', id: KEY };
    return recordAudit(plain, actor, { action: 'key.updated', target, ...entry }, clock.now());
  };
  const find = async (action: string): Promise<AuditRecord> => {
    const found = await plain.collection(AUDIT_LOG).find({ action: action as never });
    if (found[0] === undefined || found.length > 1) throw new Error(`${found.length} entries of ${action}`);
    return found[0];
  };
  const readAll = async () => JSON.stringify(await plain.collection(AUDIT_LOG).find({}));
  return { clock, plain, log, add, find, readAll, count: () => plain.collection(AUDIT_LOG).count({}) };
}

const nothing = async (): Promise<void> => undefined;
const PSEUDONYM = /^erased-[0-9A-Za-z]{12}$/;

it('deletes entries from before a time, 500 at once', async () => {
  const { clock, log, add, count } = setUp();
  for (let time = 0; time < 501; time += 1) await add({ target: { type: 'key', id: `${time}` } });
  await clock.advance(1);
  await add({});
  expect(await log.deleteBefore(clock.now())).toBe(500);
  expect(await log.deleteBefore(clock.now())).toBe(1);
  expect(await log.deleteBefore(clock.now())).toBe(0);
  expect(await count()).toBe(1);
});

describe('a user who is forgotten', () => {
  it('is replaced by one pseudonym in all entries', async () => {
    const { clock, log, add, find, readAll } = setUp();
    await add({ action: 'user.updated', target: { type: 'user', id: ADA } });
    await add({ action: 'key.created', targetOwner: ADA });
    await add({ action: 'budget.created', changes: [{ field: 'users', after: [ADA, BOB] }] });
    await add({ action: 'key.rotated' }, { type: 'user', userId: ADA });
    await clock.advance(1);
    await log.forget(ADA, nothing);
    expect(await readAll()).not.toContain(ADA);
    const { targetId: pseudonym } = await find('user.updated');
    expect(pseudonym).toMatch(PSEUDONYM);
    expect(await find('key.created')).toMatchObject({ targetOwner: pseudonym, targetId: KEY });
    expect(await find('budget.created')).toMatchObject({
      changes: [{ field: 'users', after: [pseudonym, BOB] }],
      mentions: expect.not.arrayContaining([ADA]),
    });
    expect(await find('key.rotated')).toMatchObject({ actorId: pseudonym });
    expect(await find('user.deleted')).toMatchObject({
      ...{ actorType: 'service', targetType: 'user', targetId: pseudonym, createdAt: clock.now() },
    });
  });

  it('loses the texts of what the user did, owned and was', async () => {
    const { log, add, find } = setUp();
    const changes = [
      { field: 'name', before: 'Ada', after: 'Countess' },
      { field: 'new', after: 'x' },
      { field: 'old', before: 'x' },
      { field: 'mixed', before: [1, true, null, KEY, 'text'], after: { a: 'x', b: { c: ['y', 2] } } },
      { field: 'id', before: KEY, after: `${KEY}0` },
    ];
    const erased = [
      { field: 'name', before: '[erased]', after: '[erased]' },
      { field: 'new', after: '[erased]' },
      { field: 'old', before: '[erased]' },
      {
        field: 'mixed',
        before: [1, true, null, KEY, '[erased]'],
        after: { a: '[erased]', b: { c: ['[erased]', 2] } },
      },
      { field: 'id', before: KEY, after: '[erased]' },
    ];
    await add({ action: 'key.created', changes }, { type: 'user', userId: ADA });
    await add({ action: 'key.rotated', changes, targetOwner: ADA });
    await add({ action: 'user.updated', changes, target: { type: 'user', id: ADA } });
    await log.forget(ADA, nothing);
    for (const action of ['key.created', 'key.rotated', 'user.updated']) {
      expect((await find(action)).changes).toEqual(erased);
    }
  });

  it('loses the address and the request of what the user did, and of nothing else', async () => {
    const { log, add, find } = setUp();
    const request = { requestId: 'r', address: '::1' };
    await add({ action: 'key.created' }, { type: 'key', userId: ADA, keyId: 'k', ...request });
    await add({ action: 'key.rotated', targetOwner: ADA }, { type: 'user', userId: BOB, ...request });
    await log.forget(ADA, nothing);
    const own = await find('key.created');
    expect([own.address, own.requestId, own.keyId]).toEqual([undefined, undefined, 'k']);
    expect(await find('key.rotated')).toMatchObject({ actorId: BOB, ...request });
  });

  it('leaves the texts of others, and of settings', async () => {
    const { log, add, find } = setUp();
    const changes = [{ field: 'name', after: `for ${ADA}` }];
    await add({ action: 'budget.created', changes }, { type: 'user', userId: BOB });
    await add({ action: 'setting.changed', changes }, { type: 'user', userId: ADA });
    await add(
      { action: 'key.created', changes: [{ field: 'name', after: 'x' }] },
      { type: 'user', userId: BOB },
    );
    const other = await find('key.created');
    await log.forget(ADA, nothing);
    const [change] = (await find('budget.created')).changes;
    expect(change?.after).toMatch(/^for erased-/);
    expect((await find('setting.changed')).changes[0]?.after).toMatch(/^for erased-/);
    expect(await find('key.created')).toEqual(other);
  });

  it('is replaced in more entries than one batch', async () => {
    const limits = new Set<unknown>();
    const watch = (store: Store): Store => ({
      ...store,
      collection: (definition) => ({
        ...store.collection(definition),
        find(filter, options) {
          limits.add(options?.limit);
          return store.collection(definition).find(filter, options);
        },
      }),
    });
    const { log, add, readAll, count } = setUp(watch);
    for (let time = 0; time < 501; time += 1) {
      await add({ target: { type: 'key', id: `${time}` }, targetOwner: ADA });
    }
    await log.forget(ADA, nothing);
    expect(await readAll()).not.toContain(ADA);
    expect(await count()).toBe(502);
    expect([...limits]).toEqual([500]);
  });

  it('is deleted in one transaction with the last entries', async () => {
    const { plain, log, add, readAll, find } = setUp();
    await add({ action: 'key.created', targetOwner: ADA });
    await log.forget(ADA, async (inner) => {
      const actor = { type: 'user', userId: ADA } as const;
      const target = { type: 'key', id: KEY };
      await recordAudit(inner, actor, { action: 'key.revoked', target }, 1);
      expect(await plain.collection(AUDIT_LOG).count({ action: 'key.revoked' })).toBe(0);
    });
    expect(await readAll()).not.toContain(ADA);
    const { actorId } = await find('key.revoked');
    expect(await find('user.deleted')).toMatchObject({ targetId: actorId });
    expect(await find('key.created')).toMatchObject({ targetOwner: actorId });
  });

  it('stays if the deletion fails', async () => {
    const { log, count } = setUp();
    await expect(log.forget(ADA, () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await count()).toBe(0);
  });

  it.each(['find', 'insert'] as const)('stays if the last entries fail (%s)', async (name) => {
    const away = (store: Store): Store => ({
      ...store,
      transaction: (work, options) =>
        store.transaction((inner) => {
          const failing = { ...inner.collection(AUDIT_LOG), [name]: () => Promise.reject(new Error('away')) };
          return work({ ...inner, collection: () => failing as never });
        }, options),
    });
    const { log, count } = setUp(away);
    await expect(log.forget(ADA, nothing)).rejects.toThrow('away');
    expect(await count()).toBe(0);
  });

  it('stays if an entry cannot be changed', async () => {
    const away = (store: Store): Store => ({
      ...store,
      collection: (definition) => ({
        ...store.collection(definition),
        update: () => Promise.reject(new Error('away')),
      }),
    });
    const { log, add } = setUp(away);
    await add({ targetOwner: ADA });
    const deleted: string[] = [];
    const forgotten = log.forget(ADA, async () => void deleted.push(ADA));
    await expect(forgotten).rejects.toThrow('away');
    expect(deleted).toEqual([]);
    await expect(log.forgetOrganization(ADA)).rejects.toThrow('away');
  });
});

it('replaces an organization by a pseudonym, and leaves the texts', async () => {
  const { log, add, find, count } = setUp();
  const changes = [{ field: 'name', before: 'ACME', after: `of ${ADA}` }];
  const target = { type: 'organization', id: BOB };
  await add({ action: 'organization.updated', target, organizationId: ADA, changes });
  await log.forgetOrganization(ADA);
  const entry = await find('organization.updated');
  expect(entry.organizationId).toMatch(PSEUDONYM);
  expect(entry).toMatchObject({
    targetId: BOB,
    changes: [{ before: 'ACME', after: `of ${entry.organizationId}` }],
  });
  expect(await count()).toBe(1);
});
