import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { HostEvent } from '../../events/event.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { NewJob } from '../../ports/queue.ts';
import { createWebhookFanOut, newDelivery } from './fan-out.ts';
import { WEBHOOK_DELIVERIES, WEBHOOKS, type WebhookDeliveryRecord, type WebhookRecord } from './records.ts';
import { replayDelivery } from './replay.ts';
import { sign } from './signature.ts';

const NOW = Date.UTC(2026, 5, 1, 12);

function toHook(id: string, owner: string, changes: Partial<WebhookRecord> = {}): WebhookRecord {
  return {
    ...{
      id,
      owner,
      organizationId: null,
      createdBy: 'u',
      url: 'https://hooks.example.com/',
      description: '',
    },
    ...{ types: ['quest.done'], status: 'active', sealedSecret: '', createdAt: NOW },
    ...changes,
  };
}

function toEvent(data: { readonly userId?: string; readonly organizationId?: string }): HostEvent {
  const ended = { id: 'q', sessionId: 's', kind: 'chat', ...data };
  return { id: 'evt_e', type: 'quest.done', createdAt: NOW, data: ended };
}

async function setUp(hooks: readonly WebhookRecord[] = []) {
  const store = createMemoryStore();
  for (const hook of hooks) await store.collection(WEBHOOKS).insert(hook);
  const queue = { jobs: [] as NewJob[], failure: undefined as Error | undefined };
  const services = {
    ...{ store, clock: createFakeClock(NOW), ids: createFakeIds() },
    queue: {
      async enqueue(job: NewJob) {
        if (queue.failure !== undefined) throw queue.failure;
        queue.jobs.push(job);
      },
    } as never,
  };
  const deliveries = store.collection(WEBHOOK_DELIVERIES);
  return { services, queue, deliveries, fanOut: createWebhookFanOut(services) };
}

describe('an event', () => {
  it.each([
    [{ userId: 'u' }, ['u1']],
    [{ organizationId: 'o' }, ['o1']],
    [{ userId: 'u', organizationId: 'o' }, ['o1', 'u1']],
    [{}, []],
  ])('reaches active webhooks of its owners that have selected it: %j', async (data, reached) => {
    const { fanOut, queue, deliveries } = await setUp([
      toHook('u1', 'user:u'),
      toHook('u2', 'user:u', { status: 'disabled' }),
      toHook('u3', 'user:u', { types: ['quest.failed'] }),
      toHook('o1', 'organization:o'),
      toHook('x1', 'user:o'),
    ]);
    await fanOut(toEvent(data));
    expect((await deliveries.find({})).map(({ webhookId }) => webhookId).sort()).toEqual(reached);
    expect(queue.jobs.map(({ owner }) => owner).sort()).toEqual(reached);
  });

  it('is written once for each webhook, and enqueued again while its delivery is pending', async () => {
    const { fanOut, queue, deliveries } = await setUp([toHook('w', 'user:u')]);
    const event = toEvent({ userId: 'u' });
    queue.failure = new Error('the queue is away');
    await expect(fanOut(event)).rejects.toThrow('the queue is away');
    queue.failure = undefined;
    await fanOut(event);
    const [delivery] = await deliveries.find({});
    const { id = '' } = delivery ?? {};
    expect(delivery).toEqual({
      ...{
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        webhookId: 'w',
        eventId: 'evt_e',
        type: 'quest.done',
      },
      payload: JSON.stringify({
        type: 'quest.done',
        timestamp: new Date(NOW).toISOString(),
        data: event.data,
      }),
      ...{ status: 'pending', attempts: 0, failures: 0, since: NOW, createdAt: NOW },
    });
    const job = { kind: 'send-webhook', key: `webhook:${id}`, owner: 'w', payload: { id } };
    expect(queue.jobs).toEqual([job]);
    await deliveries.update(id, { status: 'delivered' });
    await fanOut(event);
    expect([queue.jobs, await deliveries.count({})]).toEqual([[job], 1]);
  });

  it('of another type reaches no webhook', async () => {
    const { fanOut, deliveries } = await setUp([toHook('w', 'user:u', { types: ['user.created'] })]);
    await fanOut({ id: 'evt_e', type: 'user.created', createdAt: NOW, data: { id: 'u', userId: 'u' } });
    expect(await deliveries.count({})).toBe(0);
  });
});

describe('replay of a delivery', () => {
  const ended: WebhookDeliveryRecord = {
    ...newDelivery({ webhookId: 'w', eventId: 'evt_e', type: 'quest.done', payload: '{}' }, NOW - 1000),
    ...{ status: 'failed', attempts: 11, failures: 10, lastStatus: 500, nextAttemptAt: 1 },
  };

  it('begins 24 hours of its own', async () => {
    const { services, queue, deliveries } = await setUp();
    await deliveries.insert(ended);
    const replayed = await replayDelivery(services, ended.id);
    const { nextAttemptAt: _, ...rest } = ended;
    expect(replayed).toEqual({ ...rest, status: 'pending', failures: 0, since: NOW });
    expect(replayed?.nextAttemptAt).toBeUndefined();
    expect(await deliveries.get(ended.id)).toEqual(replayed);
    expect(queue.jobs).toMatchObject([{ key: `webhook:${ended.id}` }]);
    expect(await replayDelivery(services, ended.id)).toBeUndefined();
    expect(await replayDelivery(services, 'unknown')).toBeUndefined();
    expect(queue.jobs).toHaveLength(1);
  });

  it('fails if it is not enqueued', async () => {
    const { services, queue, deliveries } = await setUp();
    await deliveries.insert(ended);
    queue.failure = new Error('the queue is away');
    await expect(replayDelivery(services, ended.id)).rejects.toThrow('the queue is away');
  });
});

it('names the sender and the type of the body in the headers of a request', () => {
  const headers = sign(['whsec_c2VjcmV0'], { id: 'evt_e', body: '{}', now: NOW + 999 });
  expect(headers).toEqual({
    ...{ 'content-type': 'application/json', 'user-agent': 'Questline-Webhooks' },
    ...{ 'webhook-id': 'evt_e', 'webhook-timestamp': String(NOW / 1000) },
    'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
  });
});
