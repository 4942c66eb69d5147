import { WEBHOOK_DELIVERIES, WEBHOOKS } from '@questline/core/internal';
import type { Store, WebhookSender } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';
import { addOrganization } from '../support/people.ts';
import { callAs } from '../support/sharing.ts';
import { NOW } from '../support/test-app.ts';

const DAY_MS = 86_400_000;
const HOOK = { url: 'https://hooks.example.com/in', types: ['key.revoked'] };

/** A store that does not change the webhooks or deliveries while it is away. */
function breakable() {
  const state = { isAway: false };
  const wrap = (store: Store): Store => ({
    ...store,
    collection: (definition) => {
      const collection = store.collection(definition);
      if (!definition.name.startsWith('webhook')) return collection;
      const attempt = async <T>(work: () => Promise<T>): Promise<T> => {
        if (state.isAway) throw new Error('the store is away');
        return work();
      };
      return {
        ...collection,
        insert: (...args) => attempt(() => collection.insert(...args)),
        take: (...args) => attempt(() => collection.take(...args)),
      };
    },
    transaction: (work, options) => store.transaction((inner) => work(wrap(inner)), options),
  });
  return { state, wrap };
}

async function setUp({ started = true }: { readonly started?: boolean } = {}) {
  const bodies: string[] = [];
  const webhooks: WebhookSender = {
    isAllowed: async (url) => !url.includes('127.0.0.1'),
    async send({ body }) {
      bodies.push(body);
      return { outcome: 'answered', status: 200 };
    },
  };
  const { state, wrap } = breakable();
  const app = await createChatApp({ webhooks, store: wrap, started });
  const call = <const Method extends string, const Path extends string>(
    method: Method,
    path: Path,
    body?: object,
  ) => callAs(app, app.user, method, path, body);
  const create = async (more: object = {}) =>
    (await call('POST', '/api/webhooks', { ...HOOK, ...more })).body;
  const stored = app.services.store.collection(WEBHOOKS);
  return { app, state, call, create, stored, bodies };
}

const idsOf = (list: readonly { readonly id: string }[]): readonly string[] => list.map(({ id }) => id);

describe('webhooks of a user', () => {
  it('are listed newest first, or in the asked order, and without those of organizations', async () => {
    const { app, call, create } = await setUp();
    const { id: organizationId } = await addOrganization(app, { ownerId: app.user.id });
    const first = await create();
    await app.clock.advance(1);
    const second = await create();
    const shared = await create({ organizationId });
    expect(shared.organizationId).toBe(organizationId);
    const list = async (query = '') => idsOf((await call('GET', `/api/webhooks${query}`)).body.webhooks);
    expect(await list()).toEqual([second.id, first.id]);
    expect(await list('?order=asc')).toEqual([first.id, second.id]);
    expect(await list(`?organizationId=${organizationId}`)).toEqual([shared.id]);
  });

  it('are ten at most, apart from those of an organization', async () => {
    const { app, call, create } = await setUp();
    const { id: organizationId } = await addOrganization(app, { ownerId: app.user.id });
    for (let made = 0; made < 10; made += 1) expect(await create()).toHaveProperty('id');
    const refused = await call('POST', '/api/webhooks', HOOK);
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      400,
      expect.stringContaining('WEBHOOK_CAP'),
    ]);
    expect(await create({ organizationId })).toHaveProperty('id');
  });

  it('are not created with an address that may not be called', async () => {
    const { call, stored } = await setUp();
    expect((await call('POST', '/api/webhooks', { url: 'http://127.0.0.1/' })).status).toBe(422);
    expect(await stored.count({})).toBe(0);
  });

  it('show the previous secret until it ends, to the millisecond', async () => {
    const { app, call, create } = await setUp({ started: false });
    const { id } = await create();
    await call('POST', `/api/webhooks/${id}/rotate-secret`);
    const until: (string | null)[] = [];
    for (const ms of [0, DAY_MS - 1, 1]) {
      await app.clock.advance(ms);
      until.push((await call('GET', `/api/webhooks/${id}`)).body.previousSecretUntil);
    }
    const end = new Date(NOW + DAY_MS).toISOString();
    expect(until).toEqual([end, end, null]);
  });

  it('keep since when they are disabled', async () => {
    const { call, create, stored } = await setUp();
    const { id } = await create();
    await call('PATCH', `/api/webhooks/${id}`, { status: 'disabled' });
    expect(await stored.get(id)).toMatchObject({ disabledAt: NOW });
    await call('PATCH', `/api/webhooks/${id}`, { status: 'active' });
    expect((await stored.get(id))?.disabledAt).toBeUndefined();
  });

  it('receive events at once after they are enabled', async () => {
    const { app, call, create, bodies } = await setUp();
    const { id } = await create();
    const revoke = async () => {
      const { record } = await app.issue({});
      await call('POST', `/api/user-api-keys/${record.id}/revoke`, {});
      await app.settle();
      return bodies.length;
    };
    await call('PATCH', `/api/webhooks/${id}`, { status: 'disabled' });
    // The next look finds no receiver.
    await app.clock.advance(5000);
    expect(await revoke()).toBe(0);
    await call('PATCH', `/api/webhooks/${id}`, { status: 'active' });
    expect(await revoke()).toBe(1);
  });

  it('are not confirmed as changed while the store is away', async () => {
    const { state, call, create, bodies, app } = await setUp();
    const { id } = await create();
    state.isAway = true;
    const changes = [
      ['POST', '/api/webhooks', HOOK],
      ['POST', `/api/webhooks/${id}/test`],
      ['DELETE', `/api/webhooks/${id}`],
    ] as const;
    for (const [method, path, body] of changes) expect((await call(method, path, body)).status).toBe(500);
    await app.settle();
    expect(bodies).toEqual([]);
  });
});

describe('deliveries of a webhook', () => {
  it('are listed and replayed with it only, by status and in the asked order', async () => {
    const { app, call, create, bodies } = await setUp();
    const [mine, other] = [await create(), await create()];
    const test = async (id: string) => {
      await app.clock.advance(1);
      return (await call('POST', `/api/webhooks/${id}/test`)).body.id;
    };
    const [first, second, foreign] = [await test(mine.id), await test(mine.id), await test(other.id)];
    await app.settle();
    await app.services.store.collection(WEBHOOK_DELIVERIES).update(first, { status: 'failed' });
    const path = `/api/webhooks/${mine.id}/deliveries` as const;
    const list = async (query = '') => idsOf((await call('GET', `${path}${query}`)).body.deliveries);
    expect(await list()).toEqual([second, first]);
    expect(await list('?order=asc')).toEqual([first, second]);
    expect(await list('?status=failed')).toEqual([first]);
    expect(JSON.parse(bodies[0] ?? '')).toEqual({
      ...{ type: 'webhook.test', timestamp: new Date(NOW + 1).toISOString(), data: { id: mine.id } },
    });
    expect((await call('POST', `${path}/${foreign}/replay`)).status).toBe(404);
    expect((await call('POST', `${path}/${first}/replay`)).status).toBe(202);
  });
});
