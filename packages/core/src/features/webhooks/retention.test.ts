import { expect, it } from 'vitest';
import { delayed } from '../../../test/delayed.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { Remover } from '../../operations/retention.ts';
import type { Collection, Store } from '../../ports/store.ts';
import { WEBHOOK_DELIVERIES, WEBHOOKS, type WebhookDeliveryRecord, type WebhookRecord } from './records.ts';
import { deliveryRetention } from './retention.ts';

const DAY_MS = 86_400_000;
const NOW = 100 * DAY_MS;
const remover = {} as Remover;

type Status = WebhookDeliveryRecord['status'];
type Deliveries = Collection<WebhookDeliveryRecord>;

/** Deliveries of one webhook, beside one of another webhook. @param change replaces the deliveries. */
async function setUp(
  given: readonly (readonly [ageDays: number, status: Status])[],
  change: (deliveries: Deliveries) => Partial<Deliveries> = () => ({}),
) {
  const store = createMemoryStore();
  const deliveries = store.collection(WEBHOOK_DELIVERIES);
  const add = (id: string, webhookId: string, ageDays: number, status: Status) =>
    deliveries.insert({
      ...{ id, webhookId, status, createdAt: NOW - ageDays * DAY_MS },
    } as Partial<WebhookDeliveryRecord> as WebhookDeliveryRecord);
  for (const [ageDays, status] of given) await add(String(900 - ageDays), 'w', ageDays, status);
  await add('other', 'x', 9, 'failed');
  for (const id of ['w', 'x'])
    await store.collection(WEBHOOKS).insert({ id } as Partial<WebhookRecord> as WebhookRecord);
  const changed = { ...deliveries, ...change(deliveries) };
  const collection = ((definition: object) =>
    definition === WEBHOOK_DELIVERIES
      ? changed
      : store.collection(WEBHOOKS)) as unknown as Store['collection'];
  const rule = deliveryRetention({ store: delayed({ ...store, collection }) });
  if (rule.byAge === undefined || 'find' in rule.byAge) throw new Error('expected a removal by age');
  const left = async () =>
    (await deliveries.find({ webhookId: 'w' })).map(({ id }) => 900 - Number(id)).toReversed();
  return { rule, byAge: rule.byAge, left };
}

it('deletes ended deliveries after seven days, and pending ones thirty days later', async () => {
  const { rule, byAge, left } = await setUp([
    ...([
      [6, 'delivered'],
      [8, 'delivered'],
      [9, 'failed'],
    ] as const),
    ...([
      [10, 'pending'],
      [37, 'pending'],
      [38, 'pending'],
    ] as const),
  ]);
  expect([rule.kind, rule.defaultDays]).toEqual(['deliveries', 7]);
  const before = NOW - 7 * DAY_MS;
  expect(await byAge.count(before)).toBe(4);
  expect([await byAge.removeBefore(before, 3), await byAge.removeBefore(before, 3)]).toEqual([3, 1]);
  expect(await left()).toEqual([6, 10, 37]);
});

it('keeps the newest ended deliveries of each webhook, and those of the last day', async () => {
  const { rule, left } = await setUp([
    ...([
      [1, 'failed'],
      [2, 'pending'],
      [3, 'delivered'],
      [4, 'failed'],
      [5, 'failed'],
    ] as const),
  ]);
  expect((await rule.byGroup.list(undefined, 10)).groups).toEqual(['w', 'x']);
  const recent = { surplus: { newest: 1, before: NOW - 3.5 * DAY_MS } };
  expect(await rule.byGroup.count('w', recent, remover)).toBe(2);
  const bounds = { surplus: { newest: 2, before: NOW } };
  expect(await rule.byGroup.count('w', bounds, remover)).toBe(2);
  expect(await rule.byGroup.trim('w', bounds, 1, remover)).toBe(1);
  expect(await left()).toEqual([1, 2, 3, 5]);
  expect(await rule.byGroup.trim('w', recent, 9, remover)).toBe(1);
  expect(await left()).toEqual([1, 2, 3]);
});

it('deletes no delivery that is replayed in between', async () => {
  const { rule, left } = await setUp(
    [
      ...([
        [1, 'failed'],
        [2, 'failed'],
        [3, 'failed'],
      ] as const),
    ],
    (deliveries) => ({
      async find(...given) {
        const found = await deliveries.find(...given);
        for (const { id } of found.slice(0, 1)) await deliveries.update(id, { status: 'pending' });
        return found;
      },
    }),
  );
  expect(await rule.byGroup.trim('w', { surplus: { newest: 1, before: NOW } }, 2, remover)).toBe(1);
  expect(await left()).toEqual([1, 2]);
});
