import { WEBHOOK_DELIVERIES } from '@questline/core/internal';
import type { WebhookRequest, WebhookSender } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { type ChatAppOptions, createChatApp } from '../support/chat.ts';
import { callAs } from '../support/sharing.ts';
import { NOW } from '../support/test-app.ts';

const HOUR = 3_600_000;
const HOOK = {
  url: 'https://hooks.example.com/in',
  types: ['quest.done', 'key.revoked'],
  description: 'Mine',
};

/** A webhook whose receiver refuses the events of some types. */
async function setUp(refused: readonly string[] = [], options: ChatAppOptions = {}) {
  const requests: WebhookRequest[] = [];
  const webhooks: WebhookSender = {
    isAllowed: async () => true,
    async send(request) {
      requests.push(request);
      return { outcome: 'answered', status: refused.includes(JSON.parse(request.body).type) ? 503 : 200 };
    },
  };
  const app = await createChatApp({
    webhooks,
    ...options,
    settings: { admin: { DefaultAPIModel: 'scripted' }, worker: { pollMs: 60_000 } },
  });
  const call = <const Method extends string, const Path extends string>(
    method: Method,
    path: Path,
    body?: object,
  ) => callAs(app, app.user, method, path, body);
  const { secret: _secret, ...hook } = (await call('POST', '/api/webhooks', HOOK)).body;
  const path = `/api/webhooks/${hook.id}` as const;
  const read = async () => (await call('GET', path)).body;
  const turn = async () => {
    await app.chat({ message: 'Hi' });
    await app.settle();
  };
  return { app, requests, call, hook, path, read, turn };
}

describe('change of a webhook', () => {
  it.each([
    [{}, {}],
    [{ url: 'https://other.example.com/' }, { url: 'https://other.example.com/' }],
    [{ types: ['credits.low'] }, { types: ['credits.low'] }],
    [{ description: '' }, { description: '' }],
    [{ status: 'active' }, {}],
    [{ status: 'disabled' }, { status: 'disabled', disabledFor: 'owner' }],
    [
      { description: 'Off', status: 'disabled' },
      { description: 'Off', status: 'disabled', disabledFor: 'owner' },
    ],
  ])('changes only what it names: %j', async (body, expected) => {
    const { call, hook, path, read } = await setUp();
    const { status, body: changed } = await call('PATCH', path, body);
    expect([status, changed]).toEqual([200, { ...hook, ...expected }]);
    expect(await read()).toEqual({ ...hook, ...expected });
  });

  it('stops what is sent, keeps that over other changes, and starts it again', async () => {
    const { requests, call, path, read, turn } = await setUp();
    await call('PATCH', path, { status: 'disabled' });
    await turn();
    await call('PATCH', path, { description: 'Still off' });
    await turn();
    expect([requests.length, await read()]).toMatchObject([0, { status: 'disabled', disabledFor: 'owner' }]);
    await call('PATCH', path, { status: 'active' });
    expect(await read()).toMatchObject({ status: 'active', disabledFor: null });
    await turn();
    expect(requests).toHaveLength(1);
  });
});

describe('webhook that refuses some events', () => {
  it('stays active while it accepts others, and the refused delivery ends after 24 hours', async () => {
    const { app, call, path, read, turn } = await setUp(['key.revoked']);
    const { record } = await app.issue({});
    await call('POST', `/api/user-api-keys/${record.id}/revoke`, {});
    await app.settle();
    for (let at = 0; at < 30; at += 1) {
      await app.clock.advance(HOUR);
      await app.settle();
      if (at === 10) await turn();
    }
    const { deliveries } = (await call('GET', `${path}/deliveries?limit=100`)).body;
    expect(
      deliveries.map(({ type, status }: { type: string; status: string }) => `${type} ${status}`).sort(),
    ).toEqual(['key.revoked failed', 'quest.done delivered']);
    expect(await read()).toMatchObject({
      status: 'active',
      disabledFor: null,
      lastSuccessAt: new Date(NOW + 11 * HOUR).toISOString(),
    });
    expect(app.mails).toEqual([]);
  });

  it('is disabled when it accepted others only before the refused event', async () => {
    const { app, call, path, read, turn } = await setUp(['key.revoked']);
    await turn();
    await app.clock.advance(1);
    const { record } = await app.issue({});
    await call('POST', `/api/user-api-keys/${record.id}/revoke`, {});
    await app.settle();
    for (let at = 0; at < 30; at += 1) {
      await app.clock.advance(HOUR);
      await app.settle();
    }
    expect(await read()).toMatchObject({ status: 'disabled', disabledFor: 'failing' });
    expect((await call('POST', `${path}/test`)).status).toBe(409);
  });
});

it('fails a test event that cannot be enqueued', async () => {
  const { app, requests, call, path } = await setUp([], {
    services: (services) => ({
      ...services,
      queue: {
        ...services.queue,
        enqueue: (job) =>
          job.kind === 'send-webhook' ? Promise.reject(new Error('no queue')) : services.queue.enqueue(job),
      },
    }),
  });
  expect((await call('POST', `${path}/test`)).status).toBe(500);
  await app.settle();
  expect(requests).toEqual([]);
  expect(await app.services.store.collection(WEBHOOK_DELIVERIES).count({ status: 'delivered' })).toBe(0);
});
