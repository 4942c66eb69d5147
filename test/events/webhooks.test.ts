import { createUser, type UserRecord } from '@questline/core';
import { WEBHOOK_DELIVERIES, WEBHOOKS } from '@questline/core/internal';
import type { WebhookOutcome, WebhookRequest, WebhookSender } from '@questline/core/ports';
import { createRandom } from '@questline/testing';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ChatApp, type ChatAppOptions, createChatApp } from '../support/chat.ts';
import { addOrganization } from '../support/people.ts';
import { callAs } from '../support/sharing.ts';
import { createCountingStore } from '../support/store.ts';
import { NOW } from '../support/test-app.ts';

const ACCEPTED: WebhookOutcome = { outcome: 'answered', status: 200 };
const HOUR = 3_600_000;

/** A sender that records requests and answers as the test decides. */
function createReceiver(
  answer: (request: WebhookRequest) => WebhookOutcome | Promise<WebhookOutcome> = () => ACCEPTED,
) {
  const requests: WebhookRequest[] = [];
  const sender: WebhookSender = {
    isAllowed: async (url) => !url.includes('127.0.0.1'),
    async send(request, options) {
      requests.push(request);
      const outcome = await answer(request);
      options?.signal?.throwIfAborted();
      return outcome;
    },
  };
  return { requests, sender };
}

async function createApp(
  sender: WebhookSender,
  { settings, ...options }: ChatAppOptions = {},
): Promise<ChatApp> {
  return createChatApp({
    webhooks: sender,
    ...options,
    // Jobs wake the worker; with few polls, hours pass quickly.
    settings: { admin: { DefaultAPIModel: 'scripted' }, worker: { pollMs: 60_000 }, ...settings },
  });
}

async function create(app: ChatApp, body: object = {}, who: UserRecord = app.user) {
  const answer = await callAs(app, who, 'POST', '/api/webhooks', {
    url: 'https://hooks.example.com/in',
    ...body,
  });
  expect(answer.status).toBe(201);
  return answer.body;
}

const deliveries = async (app: ChatApp, id: string) =>
  (await callAs(app, app.user, 'GET', `/api/webhooks/${id}/deliveries?limit=100`)).body.deliveries;

/** Verifies as a receiver does, with the clock of the app. */
function verify(secret: string, { body, headers }: WebhookRequest): unknown {
  return new Webhook(secret).verify(body, { ...headers });
}

describe('signed webhooks', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW }));
  afterEach(() => void vi.useRealTimers());

  it('posts the events of the user, thin and signed, once each', async () => {
    const { requests, sender } = createReceiver();
    const app = await createApp(sender);
    const hook = await create(app);
    const { body } = await app.chat({ message: 'A secret question' });
    const failing = await app.issue({});
    await callAs(app, app.user, 'POST', `/api/user-api-keys/${failing.record.id}/revoke`, {});
    await app.settle();

    const payloads = requests.map((request) => verify(hook.secret, request));
    expect(payloads).toEqual(
      expect.arrayContaining([
        {
          type: 'quest.done',
          timestamp: new Date(NOW).toISOString(),
          data: { id: body.id, sessionId: expect.any(String), kind: 'chat', userId: app.user.id },
        },
        {
          type: 'key.revoked',
          timestamp: new Date(NOW).toISOString(),
          data: { id: failing.record.id, userId: app.user.id },
        },
      ]),
    );
    expect(payloads).toHaveLength(2);
    expect(requests[0]?.headers['webhook-id']).toMatch(/^evt_[0-9a-f]{24}$/);
    expect(JSON.stringify(requests)).not.toMatch(/secret question|Hello|whsec_/);
    expect((await deliveries(app, hook.id)).map(({ status }: { status: string }) => status)).toEqual([
      'delivered',
      'delivered',
    ]);
  });

  it('shows the secret once, and stores it encrypted', async () => {
    const { sender } = createReceiver();
    const app = await createApp(sender);
    const { secret, ...hook } = await create(app);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect((await callAs(app, app.user, 'GET', `/api/webhooks/${hook.id}`)).body).toEqual(hook);
    expect((await callAs(app, app.user, 'GET', '/api/webhooks')).body.webhooks).toEqual([hook]);
    const stored = JSON.stringify(await app.services.store.collection(WEBHOOKS).find({}));
    expect(stored).not.toContain(secret.slice(6));
  });

  it('signs with both secrets for 24 hours after a rotation, then with the new one', async () => {
    const { requests, sender } = createReceiver();
    const app = await createApp(sender);
    const { id, secret: first } = await create(app);
    const rotated = await callAs(app, app.user, 'POST', `/api/webhooks/${id}/rotate-secret`);
    const { secret: second } = rotated.body;
    expect(rotated.body.previousSecretUntil).toBe(new Date(NOW + 24 * HOUR).toISOString());
    await callAs(app, app.user, 'POST', `/api/webhooks/${id}/test`);
    await app.settle();
    const [during] = requests;
    if (during === undefined) throw new Error('nothing was sent');
    expect(verify(first, during)).toEqual(verify(second, during));
    await app.clock.advance(24 * HOUR);
    vi.setSystemTime(app.clock.now());
    await callAs(app, app.user, 'POST', `/api/webhooks/${id}/test`);
    await app.settle();
    const after = requests.at(-1);
    if (after === undefined) throw new Error('nothing was sent');
    expect(verify(second, after)).toMatchObject({ type: 'webhook.test', data: { id } });
    expect(() => verify(first, after)).toThrow();
  });

  it('posts only the selected events of the owner', async () => {
    const { requests, sender } = createReceiver();
    const app = await createApp(sender);
    await create(app, { types: ['key.revoked'] });
    const grace = await app.addUser('grace@example.com');
    await create(app, { url: 'https://grace.example.com' }, grace);
    await app.chat({ message: 'Hi' });
    await app.settle();
    expect(requests).toEqual([]);
  });

  it('posts the events of an organization to its webhook and to that of the user', async () => {
    const { requests, sender } = createReceiver();
    const app = await createApp(sender);
    const { id: organizationId } = await addOrganization(app, { ownerId: app.user.id });
    await app.ledger.grant({ account: `organization:${organizationId}`, amount: 1e9, key: 'a', reason: 'a' });
    await create(app, { url: 'https://org.example.com', organizationId });
    await create(app, { url: 'https://user.example.com' });
    const { key } = await app.issue({ scopes: ['ai:chat'], organizationId });
    await app.chat({ message: 'Hi' }, { credential: key });
    await app.chat({ message: 'Hi' });
    await app.settle();
    expect(requests.map(({ url }) => url).sort()).toEqual([
      'https://org.example.com',
      'https://user.example.com',
      'https://user.example.com',
    ]);
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
  });

  it('reports low credit without an event handler of the host', async () => {
    const { requests, sender } = createReceiver();
    const app = await createApp(sender, { credits: 210, settings: { creditsLowAt: 300 } });
    await create(app, { types: ['credits.low'] });
    for (let turn = 0; turn < 3; turn += 1) {
      await app.chat({ message: 'Hi' });
      await app.settle();
    }
    expect(requests.map(({ body }) => JSON.parse(body).data.id)).toEqual([app.account]);
  });

  it('adds no store call to a completion without webhooks, and no outbox entry', async () => {
    const store = createCountingStore();
    const { sender } = createReceiver();
    const app = await createApp(sender, { store: store.wrap });
    const body = { model: 'scripted', messages: [{ role: 'user', content: 'Hi' }] };
    const ask = async (): Promise<void> => {
      await (await app.ask('POST', '/api/ai/v1/completions', { body })).text();
      await app.settle();
    };
    await ask();
    store.calls = 0;
    await ask();
    expect(store.calls).toBe(0);
  });
});

describe('delivery of webhooks', () => {
  it('survives a receiver that is down for ten minutes, with one id per event', async () => {
    let isDown = true;
    const { requests, sender } = createReceiver(() =>
      isDown ? { outcome: 'failed', reason: 'connection' } : ACCEPTED,
    );
    const app = await createApp(sender);
    const { id } = await create(app, { types: ['quest.done'] });
    const ids: string[] = [];
    for (let turn = 0; turn < 5; turn += 1) ids.push((await app.chat({ message: 'Hi' })).body.id);
    await app.settle();
    for (let minute = 0; minute < 10; minute += 1) {
      await app.clock.advance(60_000);
      await app.settle();
    }
    isDown = false;
    const before = requests.length;
    await app.clock.advance(HOUR);
    await app.settle();
    const accepted = requests.slice(before);
    expect(accepted.map(({ body }) => JSON.parse(body).data.id).sort()).toEqual(ids.sort());
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(5);
    const listed = await deliveries(app, id);
    expect(listed.map(({ status }: { status: string }) => status)).toEqual(ids.map(() => 'delivered'));
  });

  it('ends after 24 hours: the webhook is disabled, its owner notified, and the delivery can be replayed', async () => {
    let isDown = true;
    const { requests, sender } = createReceiver(() => ({ outcome: 'answered', status: isDown ? 503 : 204 }));
    const app = await createApp(sender);
    const { id } = await create(app, { types: ['quest.done'] });
    await app.chat({ message: 'Hi' });
    await app.settle();
    let at = 0;
    for (; (await callAs(app, app.user, 'GET', `/api/webhooks/${id}`)).body.status === 'active'; at += 0.5) {
      if (at > 40) throw new Error('it is not disabled');
      await app.clock.advance(HOUR / 2);
      await app.settle();
    }
    expect(at).toBeGreaterThan(21);
    expect(at).toBeLessThan(27);
    expect(requests).toHaveLength(11);
    const hook = (await callAs(app, app.user, 'GET', `/api/webhooks/${id}`)).body;
    expect(hook.disabledFor).toBe('failing');
    expect(app.mails.map(({ to, subject }) => [to, subject])).toEqual([
      [app.user.email, 'Your webhook at hooks.example.com is disabled'],
    ]);
    const [failed] = await deliveries(app, id);
    expect(failed).toMatchObject({ status: 'failed', attempts: 11, lastStatus: 503, lastFailure: null });
    const replay = `/api/webhooks/${id}/deliveries/${failed?.id}/replay`;
    expect((await callAs(app, app.user, 'POST', replay)).status).toBe(409);

    isDown = false;
    await callAs(app, app.user, 'PATCH', `/api/webhooks/${id}`, { status: 'active' });
    expect((await callAs(app, app.user, 'POST', replay)).status).toBe(202);
    await app.settle();
    expect(requests).toHaveLength(12);
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect((await deliveries(app, id))[0]).toMatchObject({ status: 'delivered', attempts: 12 });
  });

  it('stops at once when the receiver answers 410, and sends nothing to a disabled or deleted webhook', async () => {
    const { requests, sender } = createReceiver(() => ({ outcome: 'answered', status: 410 }));
    const app = await createApp(sender);
    const { id } = await create(app);
    await app.chat({ message: 'Hi' });
    await app.settle();
    expect((await callAs(app, app.user, 'GET', `/api/webhooks/${id}`)).body.disabledFor).toBe('gone');
    await app.chat({ message: 'Hi' });
    await app.settle();
    expect((await callAs(app, app.user, 'POST', `/api/webhooks/${id}/test`)).status).toBe(409);
    expect((await callAs(app, app.user, 'DELETE', `/api/webhooks/${id}`)).status).toBe(204);
    expect((await callAs(app, app.user, 'GET', `/api/webhooks/${id}/deliveries`)).status).toBe(404);
    await app.clock.advance(24 * HOUR);
    await app.settle();
    expect(requests).toHaveLength(1);
  });

  it('deletes deliveries after seven days', async () => {
    const { sender } = createReceiver();
    const app = await createApp(sender);
    const { id } = await create(app);
    await callAs(app, app.user, 'POST', `/api/webhooks/${id}/test`);
    await app.settle();
    const [recent] = await deliveries(app, id);
    const store = app.services.store.collection(WEBHOOK_DELIVERIES);
    const record = await store.get(recent?.id ?? '');
    if (record === undefined) throw new Error('no delivery');
    await store.insert({ ...record, id: 'a'.repeat(24), createdAt: NOW - 7 * 24 * HOUR });
    await app.clock.advance(HOUR);
    await app.settle();
    expect((await deliveries(app, id)).map((one: { id: string }) => one.id)).toEqual([recent?.id]);
  });

  it('calls other webhooks while one receiver never answers, with hundreds of deliveries pending for it', async () => {
    let hanging = 0;
    const { requests, sender } = createReceiver((request) => {
      if (!request.url.includes('slow')) return ACCEPTED;
      hanging += 1;
      return new Promise(() => undefined);
    });
    const app = await createApp(sender);
    const slow = await create(app, { url: 'https://slow.example.com' });
    for (let call = 0; call < 200; call += 1) {
      await callAs(app, app.user, 'POST', `/api/webhooks/${slow.id}/test`);
    }
    await app.settle();
    const quick = await create(app, { url: 'https://quick.example.com' });
    for (let call = 0; call < 20; call += 1) {
      await callAs(app, app.user, 'POST', `/api/webhooks/${quick.id}/test`);
      await app.settle();
    }
    expect(requests.filter(({ url }) => url.includes('quick'))).toHaveLength(20);
    expect(hanging).toBe(2);
  });

  it('delivers 1,000 events to several receivers, each with its id, with random failures', async () => {
    const random = createRandom(7);
    const accepted = new Map<string, Set<string>>();
    const attempts = new Map<string, number>();
    const { sender } = createReceiver((request) => {
      const id = request.headers['webhook-id'] ?? '';
      const attempt = (attempts.get(request.url + id) ?? 0) + 1;
      attempts.set(request.url + id, attempt);
      if (attempt < 3 && random.chance(0.2)) return { outcome: 'failed', reason: 'timeout' };
      if (attempt < 3 && random.chance(0.2)) return { outcome: 'answered', status: 500 };
      const known = accepted.get(request.url) ?? new Set();
      accepted.set(request.url, known.add(id));
      return ACCEPTED;
    });
    const app = await createApp(sender);
    const urls = [
      'https://a.example.com/',
      'https://b.example.com/',
      'https://c.example.com/',
      'https://d.example.com/',
    ];
    for (const url of urls) await create(app, { url, types: ['key.revoked'] });
    for (let key = 0; key < 250; key += 1) {
      const { record } = await app.issue({});
      await callAs(app, app.user, 'POST', `/api/user-api-keys/${record.id}/revoke`, {});
      if (key % 50 === 0) await app.settle();
    }
    for (let minute = 0; minute < 10; minute += 1) {
      await app.clock.advance(60_000);
      await app.settle();
    }
    expect([...accepted.keys()].sort()).toEqual(urls);
    for (const ids of accepted.values()) expect(ids.size).toBe(250);
    expect(new Set([...accepted.values()].flatMap((ids) => [...ids])).size).toBe(250);
  });
});

describe('access to webhooks', () => {
  it('is limited to the user or the administrators of the organization', async () => {
    const { sender } = createReceiver();
    const app = await createApp(sender);
    const grace = await createUser(app.services, { email: 'grace@example.com', username: 'grace' });
    if (grace === undefined) throw new Error('no user');
    const { id: organizationId } = await addOrganization(app, { ownerId: app.user.id });
    const own = await create(app);
    const shared = await create(app, { organizationId });
    for (const { id } of [own, shared]) {
      expect((await callAs(app, grace, 'GET', `/api/webhooks/${id}`)).status).toBe(404);
      expect((await callAs(app, grace, 'DELETE', `/api/webhooks/${id}`)).status).toBe(404);
      expect((await callAs(app, grace, 'POST', `/api/webhooks/${id}/rotate-secret`)).status).toBe(404);
    }
    const url = 'https://x.example.com';
    expect((await callAs(app, grace, 'POST', '/api/webhooks', { url, organizationId })).status).toBe(404);
    expect((await callAs(app, grace, 'GET', `/api/webhooks?organizationId=${organizationId}`)).status).toBe(
      404,
    );
    expect(
      (await callAs(app, app.user, 'GET', `/api/webhooks?organizationId=${organizationId}`)).body.webhooks,
    ).toHaveLength(1);
    expect((await app.json('GET', '/api/webhooks')).status).toBe(401);
  });

  it('rejects forbidden addresses, unknown events and an eleventh webhook', async () => {
    const { sender } = createReceiver();
    const app = await createApp(sender);
    for (const body of [
      { url: 'http://127.0.0.1/' },
      { url: 'ftp://example.com' },
      { url: 'https://user:word@example.com' },
      { url: 'nothing' },
      { url: `https://example.com/${'a'.repeat(2000)}` },
      { url: 'https://example.com', types: ['charge.settled'] },
      { url: 'https://example.com', types: [] },
    ]) {
      expect([body, (await callAs(app, app.user, 'POST', '/api/webhooks', body)).status]).toEqual([
        body,
        422,
      ]);
    }
    const { id } = await create(app);
    const moved = await callAs(app, app.user, 'PATCH', `/api/webhooks/${id}`, { url: 'http://127.0.0.1/' });
    expect(moved.status).toBe(422);
    for (let more = 1; more < 10; more += 1) await create(app);
    const url = 'https://example.com';
    expect((await callAs(app, app.user, 'POST', '/api/webhooks', { url })).status).toBe(400);
  });
});
