import type { Operation } from '@questline/core';
import { AUDIT_LOG, type AuditRecord } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { defaultCall } from '../ownership/usual.ts';
import { adminToken } from '../support/sign-in.ts';
import { createTestApp } from '../support/test-app.ts';

/*
 * Every administrative operation declares its entries in the audit log, and writes one of them on success, in
 * the name of the caller. A new administrative operation without a declaration fails here.
 */

const DAY_MS = 86_400_000;

/** Operations with these tags are administrative. */
const TAGS: readonly (string | undefined)[] = [
  'API keys',
  'Provider keys',
  'Settings',
  'Users',
  'Organizations',
  'Webhooks',
  'Budgets',
];

/** Writes that are not administrative, with the reason. */
const EXEMPT: Readonly<Record<string, string>> = {
  updateOwnSettings: 'theme, language and notifications of the caller',
  testWebhook: 'sends one event, and changes nothing',
  replayWebhookDelivery: 'sends one event again, and changes nothing',
};

/** Declared operations whose sample call changes nothing that is recorded. */
const SILENT: Readonly<Record<string, string>> = {
  updateUser: 'the usual call changes the own profile',
  deleteRegistrationInvites: 'the usual call names unknown invites',
  acceptInvite: 'the usual invite is one to a session',
};

const { api } = await createTestApp();
const WRITES = api.routes.map(({ operation }) => operation).filter(({ method }) => method !== 'GET');
const DECLARED = WRITES.filter(({ audit }) => audit !== undefined);

describe('administrative operations', () => {
  it('declare their entries in the audit log', () => {
    const administrative = WRITES.filter(({ owner, tag }) => owner === 'admin' || TAGS.includes(tag));
    expect(administrative.length).toBeGreaterThan(25);
    const missing = administrative.filter(({ id, audit }) => audit === undefined && EXEMPT[id] === undefined);
    expect(missing.map(({ id }) => id)).toEqual([]);
    const ids = WRITES.map(({ id }) => id);
    expect([...Object.keys(EXEMPT), ...Object.keys(SILENT)].filter((id) => !ids.includes(id))).toEqual([]);
  });

  it.each(DECLARED.map((operation) => [operation.id, operation] as const))(
    'write a declared entry: %s',
    async (id, operation: Operation) => {
      const { wire, asked } = await defaultCall(operation);
      const { services, user } = wire.app;
      const log = services.store.collection(AUDIT_LOG);
      const before = new Set((await log.find({})).map((entry) => entry.id));
      const answer = await wire.send(asked);
      expect(answer.status).toBeLessThan(400);
      const written = (await log.find({})).filter((entry) => !before.has(entry.id));
      if (SILENT[id] !== undefined) {
        expect(written).toEqual([]);
        return;
      }
      expect(written).not.toEqual([]);
      for (const entry of written) {
        expect(operation.audit).toContain(entry.action);
        const expected: Partial<AuditRecord> = { actorType: 'user', actorId: user.id, requestId: 'wire-1' };
        expect(entry).toMatchObject(expected);
      }
    },
  );
});

describe('a change of a setting', () => {
  it('is recorded once per value, also for a first value that equals the default', async () => {
    const { change, read } = await createSettings();
    await change('DefaultAPIModel', null);
    await change('DefaultAPIModel', null);
    await change('MaxAgentsPerUser', 5);
    await change('MaxAgentsPerUser', 5);
    await change('MaxAgentsPerUser', 6);
    expect(await read()).toEqual([
      ['DefaultAPIModel', []],
      ['MaxAgentsPerUser', [{ field: 'value', before: null, after: 5 }]],
      ['MaxAgentsPerUser', [{ field: 'value', before: 5, after: 6 }]],
    ]);
  });

  async function createSettings() {
    const app = await createTestApp();
    const credential = await adminToken(app);
    return {
      async change(key: string, value: unknown): Promise<void> {
        const body = { key, value };
        expect((await app.ask('PUT', '/api/settings/update', { credential, body })).status).toBe(200);
        await app.clock.advance(1);
      },
      /** The settings that were changed, in order. */
      async read(): Promise<unknown[]> {
        const answer = await app.ask('GET', '/api/audit?action=setting.changed', { credential });
        const { data } = (await answer.json()) as {
          data: { target: { id: string }; changes: readonly unknown[] }[];
        };
        return data.map(({ target, changes }) => [target.id, changes]).reverse();
      },
    };
  }
});

describe('audit log', () => {
  it('offers no way to change or delete an entry', async () => {
    const { services } = await createTestApp();
    const { store } = services;
    const [entry] = await store.collection(AUDIT_LOG).find({}, { limit: 1 });
    const { id = '' } = entry ?? {};
    expect(id).not.toBe('');
    const change = (log: ReturnType<typeof store.collection<AuditRecord>>) => [
      () => log.update(id, { action: 'user.deleted' }),
      () => log.add(id, { createdAt: 1 }),
      () => log.take(id),
    ];
    for (const attempt of change(store.collection(AUDIT_LOG))) {
      await expect(attempt()).rejects.toThrow('neither changed nor deleted');
    }
    for (const at of [0, 1, 2]) {
      const attempt = store.transaction(async (inner) => change(inner.collection(AUDIT_LOG))[at]?.());
      await expect(attempt).rejects.toThrow('neither changed nor deleted');
    }
    expect(await store.collection(AUDIT_LOG).get(id)).toEqual(entry);
  });

  it('deletes entries by age if configured', async () => {
    const app = await createTestApp({ settings: { auditRetentionDays: 30 } });
    const { services, clock, api: own } = app;
    const log = services.store.collection(AUDIT_LOG);
    const [first] = await log.find({});
    await clock.advance(29 * DAY_MS);
    await services.auditLog.deleteBefore(clock.now() - 30 * DAY_MS);
    expect(await log.get(first?.id ?? '')).toBeDefined();
    await app.addUser('late@example.com');
    await clock.advance(2 * DAY_MS);
    await own.start();
    await clock.advance(600_000);
    expect((await log.find({})).map(({ action }) => action)).toEqual(['user.created']);
    await own.close();
  });
});
