import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { Call, Caller } from '../contract/call.ts';
import { createMemoryLedger } from '../memory/ledger.ts';
import { createMemoryStore } from '../memory/store.ts';
import { ADMIN_SETTINGS } from './admin-settings.ts';
import { actingAs, actingFor, getActor, type NewAuditEntry, recordAudit, SERVICE_ACTOR } from './audit.ts';
import { captureAudit } from './audit-capture.ts';
import { auditGrants } from './audit-grants.ts';
import { AUDIT_LOG, type AuditRecord } from './audit-records.ts';
import { defineAuditSource, listChanges } from './audit-source.ts';

const USER = 'a'.repeat(24);
const OTHER = 'b'.repeat(24);
const NOW = Date.UTC(2026, 5, 1);

const entry: NewAuditEntry = { action: 'user.updated', target: { type: 'user', id: OTHER } };

function call(caller: Partial<Caller> | undefined, remoteAddress?: string) {
  return { id: 'call', requestId: 'request', caller, request: { remoteAddress } } as Call<Caller | undefined>;
}

describe('an entry', () => {
  it('names the actor, the target and all ids', async () => {
    const store = createMemoryStore();
    const actor = {
      type: 'key',
      userId: USER,
      keyId: 'k',
      requestId: 'r',
      address: '::1',
      callId: 'c',
    } as const;
    const changes = [{ field: 'owner', before: USER, after: { id: 'c'.repeat(24) } }];
    const more = { organizationId: 'o', targetOwner: 'ada', changes };
    await recordAudit(store, actor, { ...entry, ...more }, NOW);
    const [record] = await store.collection(AUDIT_LOG).find({});
    expect(record).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      ...{ action: 'user.updated', actorType: 'key', actorId: USER, keyId: 'k' },
      ...{ targetType: 'user', targetId: OTHER, ...more },
      ...{ requestId: 'r', address: '::1', createdAt: NOW },
      mentions: [USER, OTHER, 'c'.repeat(24)],
    });
  });

  it('has no changes, mentions and organization without them', async () => {
    const store = createMemoryStore();
    const target = { type: 'setting', id: 'name' };
    await recordAudit(store, SERVICE_ACTOR, { action: 'setting.changed', target, organizationId: null }, NOW);
    const [record] = await store.collection(AUDIT_LOG).find({});
    expect(record).toMatchObject({ actorType: 'service', changes: [], mentions: [] });
    expect(record?.organizationId).toBeUndefined();
  });

  it('is written for each of several equal acts at the same time', async () => {
    const store = createMemoryStore();
    for (let time = 0; time < 3; time += 1) await recordAudit(store, SERVICE_ACTOR, entry, NOW);
    expect(await store.collection(AUDIT_LOG).count({})).toBe(3);
  });

  it('has an id of its call, so that calls at the same time do not wait for each other', async () => {
    const store = createMemoryStore();
    const ids: string[] = [];
    const log = store.collection(AUDIT_LOG);
    const watched = {
      ...log,
      insert(record: AuditRecord) {
        ids.push(record.id);
        return log.insert(record);
      },
    };
    const where = { ...store, collection: () => watched as never };
    for (const callId of ['a', 'b', undefined]) {
      await recordAudit(where, { type: 'service', ...(callId && { callId }) }, entry, NOW);
    }
    expect(ids).toHaveLength(3);
  });

  it('is written once per action and key', async () => {
    const store = createMemoryStore();
    await recordAudit(store, SERVICE_ACTOR, entry, NOW, 'first');
    await recordAudit(store, SERVICE_ACTOR, entry, NOW + 1, 'first');
    expect(await store.collection(AUDIT_LOG).count({})).toBe(1);
    await recordAudit(store, SERVICE_ACTOR, entry, NOW, 'second');
    await recordAudit(store, SERVICE_ACTOR, { ...entry, action: 'user.created' }, NOW, 'first');
    expect(await store.collection(AUDIT_LOG).count({})).toBe(3);
    const found = await store.collection(AUDIT_LOG).find({ createdAt: NOW, action: 'user.created' });
    expect(found).toMatchObject([{ targetId: OTHER, mentions: [OTHER] }]);
  });

  it.each([undefined, 'first'])('is reported if the store fails (key %s)', async (key) => {
    const store = createMemoryStore();
    const log = { ...store.collection(AUDIT_LOG), insert: () => Promise.reject(new Error('away')) };
    const away = { ...store, collection: () => log as never };
    await expect(recordAudit(away, SERVICE_ACTOR, entry, NOW, key)).rejects.toThrow('away');
  });
});

describe('the actor of a call', () => {
  it('is the key, the user, the user of the host or the service', () => {
    const common = { callId: 'call', requestId: 'request' };
    const actor = (caller?: Partial<Caller>) => getActor(call(caller));
    expect(actor()).toEqual({ type: 'service', ...common });
    const key = { kind: 'key', userId: USER, keyId: 'k' } as const;
    expect(actor(key)).toEqual({ type: 'key', userId: USER, keyId: 'k', ...common });
    expect(actor({ kind: 'token', userId: USER })).toEqual({ type: 'user', userId: USER, ...common });
    const host = { kind: 'token', userId: USER, isFromHost: true } as const;
    expect(actor(host)).toEqual({ type: 'host-user', userId: USER, ...common });
  });

  it('has the first 100 characters of the address', () => {
    expect(getActor(call(undefined, '::1')).address).toBe('::1');
    expect(getActor(call(undefined, 'x'.repeat(101))).address).toBe('x'.repeat(100));
    expect(getActor(call(undefined))).not.toHaveProperty('address');
  });
});

describe('services of an actor', () => {
  const source = defineAuditSource({
    collection: ADMIN_SETTINGS,
    fields: ['value'],
    inserts: true,
    toEntries: ({ after }) => [
      { action: 'setting.changed', target: { type: 'setting', id: after?.id ?? '' } },
    ],
  });

  it('attribute changes and grants to it', async () => {
    const clock = createFakeClock();
    const plain = createMemoryStore();
    const store = captureAudit(plain, [source], clock);
    const ledger = auditGrants({ store: plain, ledger: createMemoryLedger({ clock }), clock });
    const bound = actingFor({ store, ledger, other: 1 }, call({ kind: 'token', userId: USER }));
    expect(bound.other).toBe(1);
    await bound.store.collection(ADMIN_SETTINGS).insert({ id: 'EnableAgents', value: true });
    await bound.ledger.grant({ account: 'user:a', amount: 1, key: 'k', reason: 'test' });
    await actingAs({ store }, { type: 'command-line' })
      .store.collection(ADMIN_SETTINGS)
      .insert({ id: 'EnableArtifacts', value: true });
    const actors = (await plain.collection(AUDIT_LOG).find({})).map((one) => [
      one.action,
      one.actorType,
      one.actorId,
    ]);
    expect(actors.sort()).toEqual([
      ['credits.granted', 'user', USER],
      ['setting.changed', 'command-line', undefined],
      ['setting.changed', 'user', USER],
    ]);
  });

  it('are those of the host where nothing is recorded', () => {
    const store = createMemoryStore();
    const ledger = createMemoryLedger({ clock: createFakeClock() });
    const actor = { type: 'command-line' } as const;
    expect(actingAs({ store, ledger }, actor)).toEqual({ store, ledger });
    expect(Object.keys(actingAs({ store }, actor))).toEqual(['store']);
  });
});

describe('changes of a record', () => {
  interface Thing {
    readonly id: string;
    readonly name?: string | null;
    readonly list?: readonly string[];
    readonly count?: number;
  }
  const fields = ['name', 'list', 'count'] as const;

  it('are those of the named fields that differ', () => {
    const before: Thing = { id: 'a', name: 'old', list: ['x'], count: 1 };
    expect(listChanges<Thing>({ before, after: { ...before, id: 'b', list: ['x'] } }, fields)).toEqual([]);
    expect(listChanges<Thing>({ before, after: { ...before, name: 'new', list: [] } }, fields)).toEqual([
      { field: 'name', before: 'old', after: 'new' },
      { field: 'list', before: ['x'], after: [] },
    ]);
    expect(listChanges<Thing>({ before, after: { ...before, name: 'new' } }, ['count'])).toEqual([]);
  });

  it('have no value for what is absent or null', () => {
    const after: Thing = { id: 'a', name: null, count: 0 };
    expect(listChanges<Thing>({ after }, fields)).toEqual([{ field: 'count', after: 0 }]);
    expect(listChanges<Thing>({ before: after }, fields)).toEqual([{ field: 'count', before: 0 }]);
    const before: Thing = { id: 'a', name: 'old' };
    expect(listChanges<Thing>({ before, after }, fields)).toEqual([
      { field: 'name', before: 'old' },
      { field: 'count', after: 0 },
    ]);
  });
});
