import { expect, it } from 'vitest';
import { delayed } from '../../../test/delayed.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { Remover } from '../../operations/retention.ts';
import { ANALYTICS_EVENTS } from './records.ts';
import { analyticsRetention } from './retention.ts';

const remover = {} as Remover;

/** Events of `ada` with these times, beside events of `bob`. */
async function setUp(...times: number[]) {
  const store = createMemoryStore();
  const events = store.collection(ANALYTICS_EVENTS);
  const about = { event: 'opened', properties: {} };
  for (const at of times) await events.insert({ ...about, id: `a${at}`, userId: 'ada', createdAt: at });
  for (const at of [1, 5]) await events.insert({ ...about, id: `b${at}`, userId: 'bob', createdAt: at });
  const rule = analyticsRetention({ store: delayed(store) });
  if (rule.byAge === undefined || 'find' in rule.byAge) throw new Error('expected a removal by age');
  const left = async () => (await events.find({ userId: 'ada' })).map(({ createdAt }) => createdAt).sort();
  return { rule, byAge: rule.byAge, events, left };
}

it('deletes the events of all users from before a time, a page at a time', async () => {
  const { rule, byAge, events, left } = await setUp(1, 2, 3);
  expect([rule.kind, await byAge.count(3)]).toEqual(['analytics', 3]);
  expect([await byAge.removeBefore(3, 2), await byAge.removeBefore(3, 2)]).toEqual([2, 1]);
  expect([await left(), await events.count({ userId: 'bob' })]).toEqual([[3], 1]);
});

it('keeps the newest events of each user', async () => {
  const { rule, events, left } = await setUp(1, 2, 3, 4);
  const bounds = { surplus: { newest: 2, before: 4 } };
  expect(await rule.byGroup.count('ada', bounds, remover)).toBe(2);
  expect(await rule.byGroup.trim('ada', bounds, 1, remover)).toBe(1);
  expect(await left()).toEqual([1, 3, 4]);
  expect(await rule.byGroup.trim('ada', bounds, 9, remover)).toBe(1);
  expect([await left(), await events.count({ userId: 'bob' })]).toEqual([[3, 4], 2]);
});
