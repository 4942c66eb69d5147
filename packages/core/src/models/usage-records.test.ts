import { createFakeClock } from '@questline/testing';
import { expect, it } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import type { Store } from '../ports/store.ts';
import type { Incident } from '../shared/incident.ts';
import { REJECTED_USAGE, watchUsageReports } from './usage-records.ts';
import { UsageReportRejected } from './usage-reports.ts';

function watch(change: (store: Store) => Store = (store) => store) {
  const store = createMemoryStore();
  const clock = createFakeClock();
  const incidents: Incident[] = [];
  const seen: unknown[] = [];
  const observer = { usageRejected: (event: unknown) => void seen.push(event) };
  const report = watchUsageReports((incident) => void incidents.push(incident), {
    ...{ store: change(store), clock },
    observer: observer as unknown as Parameters<typeof watchUsageReports>[1]['observer'],
  });
  return { clock, incidents, seen, report, records: store.collection(REJECTED_USAGE) };
}

const reject = (model: string, amount: number): UsageReportRejected => {
  const cost = { usage: { input: 1, output: amount }, amount } as ConstructorParameters<
    typeof UsageReportRejected
  >[3];
  return new UsageReportRejected('acme', model, { input: 9e9, output: amount }, cost);
};

it('counts rejected usage reports by model, and keeps the last one', async () => {
  const { clock, incidents, seen, report, records } = watch();
  const first = { operation: 'createChat', requestId: 'r1', error: reject('m', 3) };
  report(first);
  await clock.advance(5);
  report({ ...first, error: reject('m', 4) });
  report({ ...first, error: reject('other', 5) });
  await clock.advance(1);
  expect(incidents.map(({ requestId }) => requestId)).toEqual(['r1', 'r1', 'r1']);
  expect(seen).toMatchObject([
    { operation: 'createChat', provider: 'acme', model: 'm', amount: 3, charged: { input: 1, output: 3 } },
    { amount: 4, reported: { input: 9e9, output: 4 } },
    { model: 'other' },
  ]);
  const kept = await records.find({}, { order: { field: 'id', direction: 'asc' } });
  const byModel = Object.fromEntries(kept.map((record) => [record.model, record]));
  expect(byModel).toMatchObject({
    m: { provider: 'acme', count: 2, amount: 4, charged: { output: 4 }, reported: { output: 4 } },
    other: { count: 1, amount: 5 },
  });
  expect(byModel.m?.lastAt).toBe(clock.now() - 1);
  for (const { id } of kept) expect(id).toMatch(/^[0-9a-f]{24}$/);
});

it('passes other incidents on, and records nothing for them', async () => {
  const { clock, incidents, seen, report, records } = watch();
  const incident = { operation: 'createChat', requestId: 'r1', error: new Error('other') };
  report(incident);
  await clock.advance(1);
  expect([incidents, seen, await records.count({})]).toEqual([[incident], [], 0]);
});

it.each(['insert', 'add', 'update'] as const)('reports that a report cannot be kept: %s', async (verb) => {
  const away = new Error('away');
  const { clock, incidents, report } = watch((store) => ({
    ...store,
    collection: (definition) => ({ ...store.collection(definition), [verb]: () => Promise.reject(away) }),
  }));
  const error = reject('m', 3);
  report({ operation: 'createChat', requestId: 'r1', error });
  await clock.advance(1);
  report({ operation: 'createChat', requestId: 'r2', error });
  await clock.advance(1);
  expect(incidents).toContainEqual({ operation: 'createChat', requestId: 'r2', error: away });
});
