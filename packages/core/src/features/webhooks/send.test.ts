import { setImmediate as turn } from 'node:timers/promises';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { USERS, type UserRecord } from '../../identity/records.ts';
import { createMemoryStore } from '../../memory/store.ts';
import { createSecretBox } from '../../models/secret-box.ts';
import type { LeasedJob } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import type { WebhookOutcome, WebhookRequest } from '../../ports/webhook-sender.ts';
import { wrapCollection } from '../../ports/wrap-collection.ts';
import { WEBHOOK_DELIVERIES, WEBHOOKS, type WebhookDeliveryRecord, type WebhookRecord } from './records.ts';
import { createSendHandler } from './send.ts';
import { createWebhookSecret, getSecretPlace } from './signature.ts';

const NOW = Date.UTC(2026, 5, 1, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ACCEPTED: WebhookOutcome = { outcome: 'answered', status: 200 };
const REFUSED: WebhookOutcome = { outcome: 'answered', status: 500 };
const DELIVERY: WebhookDeliveryRecord = {
  ...{ id: 'd', webhookId: 'w', eventId: 'evt_e', type: 'quest.done', payload: '{"type":"quest.done"}' },
  ...{ status: 'pending', attempts: 3, failures: 0, since: NOW, createdAt: NOW },
};

interface Options {
  readonly outcome?: WebhookOutcome;
  readonly webhook?: Partial<WebhookRecord>;
  readonly delivery?: Partial<WebhookDeliveryRecord>;
  readonly user?: Partial<UserRecord>;
  /** Two bytes that decide about the jitter. */
  readonly bytes?: readonly number[];
  readonly mailFailure?: Error;
  /** What the receiver does before it answers. */
  readonly meanwhile?: (app: {
    readonly store: Store;
    readonly stop: () => void;
    readonly pass: () => Promise<void>;
  }) => unknown;
  /** What happens after the delivery was read. */
  readonly afterLook?: (store: Store) => Promise<unknown>;
  /** The collection that cannot be changed. */
  readonly away?: string;
}

/** Sends one delivery. */
async function send({
  outcome = ACCEPTED,
  webhook,
  delivery,
  user = {},
  bytes = [0, 0],
  mailFailure,
  meanwhile,
  afterLook,
  away,
  ...given
}: Options & { readonly hasMailer?: boolean } = {}) {
  const clock = createFakeClock(NOW);
  const store = createMemoryStore();
  const ids = createFakeIds();
  const textBox = createSecretBox(new Uint8Array(32), ids);
  const hook: WebhookRecord = {
    ...{
      id: 'w',
      owner: 'user:u',
      organizationId: null,
      createdBy: 'u',
      url: 'https://hooks.example.com/in',
    },
    ...{ description: '', types: [], status: 'active', createdAt: NOW },
    sealedSecret: textBox.seal(createWebhookSecret(ids), getSecretPlace('w')),
    ...webhook,
  };
  const webhooks = store.collection(WEBHOOKS);
  const deliveries = store.collection(WEBHOOK_DELIVERIES);
  await webhooks.insert(hook);
  await deliveries.insert({ ...DELIVERY, ...delivery });
  await store.collection(USERS).insert({ id: 'u', email: 'u@example.com', ...user } as UserRecord);
  const requests: WebhookRequest[] = [];
  const mails: string[] = [];
  const incidents: string[] = [];
  const stopping = new AbortController();
  const handler = createSendHandler({
    ...{ clock, textBox, appName: 'Questline' },
    store: {
      ...store,
      collection(definition) {
        const collection = store.collection(definition);
        const wrapped = wrapCollection(collection, {
          async update(...args) {
            await turn();
            if (definition.name === away) throw new Error('the store is away');
            return collection.update(...args);
          },
        });
        if (definition.name !== WEBHOOKS.name) return wrapped;
        const get: typeof wrapped.get = async (...args) => (
          await afterLook?.(store), collection.get(...args)
        );
        return Object.assign(wrapped, { get });
      },
    },
    ids: { ...ids, bytes: (length) => Uint8Array.from(bytes.slice(0, length)) },
    webhookSender: {
      isAllowed: async () => true,
      async send(request, options) {
        requests.push(request);
        await meanwhile?.({
          store,
          stop: () => stopping.abort(new Error('the process stops')),
          pass: () => clock.advance(MINUTE),
        });
        expect(options?.signal).toBe(stopping.signal);
        return outcome;
      },
    },
    ...((given.hasMailer ?? true) && {
      mailer: {
        async send({ to, subject, text }) {
          await turn();
          if (mailFailure !== undefined) throw mailFailure;
          mails.push(`${to}: ${subject}: ${text}`);
        },
      },
    }),
    onError: ({ error }) => void incidents.push(String(error)),
  });
  const job = { kind: handler.kind, payload: { id: 'd' } } as unknown as LeasedJob;
  const run = handler.run(job, stopping.signal, async () => undefined);
  const [again] = await Promise.allSettled([run]);
  return {
    ...{ again, hook, requests, mails, incidents },
    webhook: await webhooks.get('w'),
    delivery: await deliveries.get('d'),
  };
}

describe('a delivery', () => {
  it.each([200, 299])(
    'ends with an acceptance, status %i, and the webhook keeps the time',
    async (status) => {
      const { again, hook, webhook, delivery, requests } = await send({
        ...{
          outcome: { outcome: 'answered', status },
          delivery: { lastFailure: 'timeout', nextAttemptAt: 1 },
        },
        meanwhile: ({ pass }) => pass(),
      });
      expect(again).toEqual({ status: 'fulfilled', value: undefined });
      expect(delivery).toEqual({
        ...{ ...DELIVERY, status: 'delivered', attempts: 4, lastStatus: status },
        ...{ lastFailure: undefined, nextAttemptAt: undefined },
      });
      expect(webhook).toEqual({ ...hook, lastSuccessAt: NOW + MINUTE });
      expect(requests).toMatchObject([
        {
          url: hook.url,
          body: DELIVERY.payload,
          headers: { 'webhook-id': 'evt_e', 'webhook-timestamp': `${NOW / 1000}` },
        },
      ]);
    },
  );

  it.each([
    ['it has ended', { delivery: { status: 'failed' } }, 'failed', 3],
    [
      'its webhook is disabled',
      { webhook: { status: 'disabled' }, delivery: { nextAttemptAt: 1 } },
      'failed',
      3,
    ],
    ['its webhook is deleted', { webhook: { id: 'other' } }, 'failed', 3],
  ] as const)('is not sent when %s', async (_, options, status, attempts) => {
    const { again, requests, delivery } = await send(options);
    expect([again.status, requests]).toEqual(['fulfilled', []]);
    expect(delivery).toMatchObject({ status, attempts });
    expect(delivery?.nextAttemptAt).toBeUndefined();
  });

  it('stays as it is when the process stops before the answer', async () => {
    const { again, hook, webhook, delivery } = await send({ meanwhile: ({ stop }) => stop() });
    expect(again).toMatchObject({ status: 'rejected', reason: { message: 'the process stops' } });
    expect([webhook, delivery]).toEqual([hook, DELIVERY]);
  });
});

describe('a delivery that is refused', () => {
  const PAUSES = [5000, MINUTE, 5 * MINUTE, 24 * MINUTE - 5000, 30 * MINUTE].concat(
    [1, 2, 4, 8, 8].map((n) => n * HOUR),
  );

  it('is repeated with growing pauses, 24 hours in all', async () => {
    const sent = await Promise.all(
      PAUSES.map((_, failures) => send({ outcome: REFUSED, delivery: { failures }, bytes: [128, 0] })),
    );
    const pauses = sent.map(({ again }) => (again.status === 'fulfilled' ? again.value : undefined));
    const expected = PAUSES.map((pause) => Math.round(pause * (0.9 + 0.2 * (32_768 / 65_535))));
    expect(pauses).toEqual(expected.map((afterMs) => ({ afterMs, countAttempt: false })));
    expect(PAUSES.reduce((sum, pause) => sum + pause)).toBe(24 * HOUR);
    expect(sent.map(({ delivery }) => delivery)).toEqual(
      expected.map((pause, failures) => ({
        ...{ ...DELIVERY, lastStatus: 500, lastFailure: undefined, attempts: 4 },
        ...{ failures: failures + 1, nextAttemptAt: NOW + pause },
      })),
    );
    expect(sent.flatMap(({ mails }) => mails)).toEqual([]);
  });

  it.each([
    [[0, 0], 54_000],
    [[0, 255], 54_047],
    [[255, 255], 66_000],
  ])('waits up to a tenth shorter or longer: bytes %j, %i ms', async (bytes, afterMs) => {
    const { again } = await send({ outcome: REFUSED, delivery: { failures: 1 }, bytes });
    expect(again).toMatchObject({ value: { afterMs } });
  });

  it.each<[WebhookOutcome, readonly unknown[]]>([
    [{ outcome: 'answered', status: 199 }, [199, undefined]],
    [{ outcome: 'answered', status: 300 }, [300, undefined]],
    [{ outcome: 'failed', reason: 'timeout' }, [undefined, 'timeout']],
  ])('keeps why: %j', async (outcome, last) => {
    const { delivery, webhook } = await send({
      outcome,
      delivery: { lastStatus: 404, lastFailure: 'redirect' },
    });
    expect([delivery?.lastStatus, delivery?.lastFailure, delivery?.status]).toEqual([...last, 'pending']);
    expect(webhook).not.toHaveProperty('lastSuccessAt');
  });
});

describe('the end of a delivery that is refused', () => {
  const last = { outcome: REFUSED, delivery: { failures: 10 } } satisfies Options;

  it('disables the webhook, and informs its creator', async () => {
    const { again, delivery, webhook, hook, mails, incidents } = await send(last);
    expect(again).toEqual({ status: 'fulfilled', value: undefined });
    expect(delivery).toMatchObject({ status: 'failed', attempts: 4, failures: 10, lastStatus: 500 });
    expect(webhook).toEqual({ ...hook, status: 'disabled', disabledFor: 'failing', disabledAt: NOW });
    expect(mails).toEqual([
      expect.stringContaining('u@example.com: Your webhook at hooks.example.com is disabled'),
    ]);
    expect([mails[0], incidents]).toEqual([expect.stringContaining('for 24 hours'), []]);
  });

  it('disables it at once with status 410, after any number of failures', async () => {
    for (const failures of [0, 10]) {
      const { again, webhook, delivery, mails } = await send({
        ...{ outcome: { outcome: 'answered', status: 410 }, delivery: { failures } },
        webhook: { lastSuccessAt: NOW + 1 },
      });
      expect([again, webhook?.disabledFor]).toEqual([{ status: 'fulfilled', value: undefined }, 'gone']);
      expect(delivery).toMatchObject({ status: 'failed', lastStatus: 410, attempts: 4, failures });
      expect(mails).toEqual([expect.stringContaining('status 410')]);
    }
  });

  it.each([
    [-1, 'disabled'],
    [0, 'active'],
  ] as const)('leaves a webhook active that accepted another meanwhile: %i ms', async (ms, status) => {
    const { webhook, delivery } = await send({ ...last, webhook: { lastSuccessAt: NOW + ms } });
    expect([webhook?.status, delivery?.status]).toEqual([status, 'failed']);
  });

  it.each<[string, Options & { readonly hasMailer?: boolean }]>([
    ['the host has no mailer', { hasMailer: false }],
    ['the creator is unknown', { webhook: { createdBy: '' } }],
    ['the creator wants no mails', { user: { notifications: { email: false } } as Partial<UserRecord> }],
  ])('sends no mail when %s', async (_, options) => {
    const { again, mails, webhook } = await send({ ...last, ...options });
    expect([again.status, mails, webhook?.status]).toEqual(['fulfilled', [], 'disabled']);
  });

  it('sends a mail to a creator who has chosen mails, and reports one that is not sent', async () => {
    const user = { notifications: { email: true } } as Partial<UserRecord>;
    expect((await send({ ...last, user })).mails).toHaveLength(1);
    const { again, incidents } = await send({ ...last, mailFailure: new Error('no mail') });
    expect([again.status, incidents]).toEqual(['fulfilled', ['Error: no mail']]);
  });
});

describe('a change while a delivery is sent', () => {
  const end = (store: Store) =>
    store.collection(WEBHOOK_DELIVERIES).update('d', { status: 'failed', attempts: 9 });

  it.each<[string, Options]>([
    ['an acceptance', { meanwhile: ({ store }) => end(store) }],
    ['a refusal', { meanwhile: ({ store }) => end(store), outcome: REFUSED }],
    [
      'the last refusal',
      { meanwhile: ({ store }) => end(store), outcome: REFUSED, delivery: { failures: 10 } },
    ],
    [
      'a look at a disabled webhook',
      { afterLook: end, webhook: { status: 'disabled' }, delivery: { nextAttemptAt: 1 } },
    ],
  ])('that has ended the delivery stays after %s', async (_, options) => {
    const { delivery } = await send(options);
    expect(delivery).toEqual({ ...DELIVERY, ...options.delivery, status: 'failed', attempts: 9 });
  });

  it('that has disabled the webhook stays, without a mail', async () => {
    const { webhook, mails } = await send({
      ...{ outcome: { outcome: 'answered', status: 410 } },
      meanwhile: ({ store }) =>
        store.collection(WEBHOOKS).update('w', { status: 'disabled', disabledFor: 'owner' }),
    });
    expect([webhook?.disabledFor, mails]).toEqual(['owner', []]);
  });

  const gone: WebhookOutcome = { outcome: 'answered', status: 410 };
  const last = { failures: 10 };
  it.each<[string, Options]>([
    ['accepted', { away: WEBHOOK_DELIVERIES.name }],
    ['accepted, webhook', { away: WEBHOOKS.name }],
    ['refused', { away: WEBHOOK_DELIVERIES.name, outcome: REFUSED }],
    ['last', { away: WEBHOOK_DELIVERIES.name, outcome: REFUSED, delivery: last }],
    ['last, webhook', { away: WEBHOOKS.name, outcome: REFUSED, delivery: last }],
    ['gone', { away: WEBHOOK_DELIVERIES.name, outcome: gone }],
    ['gone, webhook', { away: WEBHOOKS.name, outcome: gone }],
    ['disabled', { away: WEBHOOK_DELIVERIES.name, webhook: { status: 'disabled' } }],
  ])('that is not stored lets the job run again: %s', async (_, options) => {
    const { again, mails } = await send(options);
    expect(again).toMatchObject({ status: 'rejected', reason: { message: 'the store is away' } });
    expect(mails).toEqual([]);
  });
});
