import { describe, expect, it } from 'vitest';
import type { UsageDimension } from '../ports/ledger.ts';
import { createReservation } from './reservation.ts';
import { createHourSums, type SummedCalls, sumByGroup } from './usage-sums.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const toCall = (more: Partial<SummedCalls> = {}): SummedCalls => ({
  ...{ account: 'user:a', operation: 'chat', model: 'm', keyId: 'k', userId: 'u', createdAt: 3 * DAY + 5 },
  ...{ charged: 10, usage: { input: 1 } },
  ...more,
});

describe('sums of usage by group', () => {
  it('add amounts, requests and units', () => {
    const calls = [
      toCall(),
      toCall({ charged: 5, usage: { input: 2, output: 3 } }),
      toCall({ usage: undefined }),
    ];
    expect(sumByGroup(calls, [])).toEqual([
      { group: {}, requests: 3, amount: 25, usage: { input: 3, output: 3 } },
    ]);
    expect(sumByGroup([toCall({ requests: 4 }), toCall()], [])[0]?.requests).toBe(5);
    expect(sumByGroup([], [])).toEqual([]);
  });

  it.each<[UsageDimension, Partial<SummedCalls>, unknown, unknown]>([
    ['day', { createdAt: 4 * DAY - 1 }, 3 * DAY, 3 * DAY],
    ['day', { createdAt: 4 * DAY }, 3 * DAY, 4 * DAY],
    ['model', { model: undefined }, 'm', null],
    ['operation', { operation: 'other' }, 'chat', 'other'],
    ['key', { keyId: undefined }, 'k', null],
    ['user', { userId: undefined }, 'u', null],
    ['organization', { account: 'organization:o' }, null, 'o'],
  ])('have the %s of each call: %j', (dimension, more, usual, other) => {
    const values = [toCall(), toCall(more)].map(
      (call) => sumByGroup([call], [dimension])[0]?.group[dimension],
    );
    expect(values).toEqual([usual, other]);
  });

  it('are sorted by all values, null first', () => {
    const call = (model: string | undefined, operation: string) => toCall({ model, operation });
    const sums = sumByGroup(
      [call('b', 'x'), call('a', 'y'), call(undefined, 'z'), call('a', 'x'), call('b', 'x')],
      ['model', 'operation'],
    );
    expect(sums.map(({ group, requests }) => [group.model, group.operation, requests])).toEqual([
      ...[
        [null, 'z', 1],
        ['a', 'x', 1],
        ['a', 'y', 1],
        ['b', 'x', 2],
      ],
    ]);
    const days = sumByGroup(
      [9, 10, 2].map((day) => toCall({ createdAt: day * DAY })),
      ['day'],
    );
    expect(days.map(({ group }) => Number(group.day) / DAY)).toEqual([2, 9, 10]);
    const models = sumByGroup([toCall(), toCall({ model: undefined }), toCall()], ['model']);
    expect(models.map(({ group }) => group.model)).toEqual([null, 'm']);
  });
});

describe('sums of usage by hour', () => {
  const add = (
    sums: ReturnType<typeof createHourSums>,
    createdAt: number,
    details: object = {},
    account = 'user:a',
  ) => {
    const usual = { operation: 'chat', model: 'm', keyId: 'k', userId: 'u', ...details };
    const request = { account, amount: 9, key: `${createdAt}`, expiresAt: 1, details: usual };
    const call = createReservation(1, createdAt, request);
    sums.add(Object.assign(call, { charged: 4, usage: { input: 2 } }));
  };

  it('join the calls of an hour that are equal otherwise', () => {
    const sums = createHourSums();
    add(sums, HOUR);
    add(sums, 2 * HOUR - 1);
    add(sums, 2 * HOUR);
    const about = { account: 'user:a', operation: 'chat', model: 'm', keyId: 'k', userId: 'u' };
    expect([...sums.list()]).toEqual([
      { ...about, createdAt: HOUR, charged: 8, usage: { input: 4 }, requests: 2 },
      { ...about, createdAt: 2 * HOUR, charged: 4, usage: { input: 2 }, requests: 1 },
    ]);
  });

  it.each([
    { operation: 'other' },
    { model: undefined },
    { model: 'other' },
    { keyId: undefined },
    { keyId: 'other' },
    { userId: undefined },
    { userId: 'other' },
  ])('keep calls apart that differ in %j', (details) => {
    const sums = createHourSums();
    add(sums, 1);
    add(sums, 1, details);
    expect([...sums.list()].map(({ requests }) => requests)).toEqual([1, 1]);
  });

  it('keep accounts apart', () => {
    const sums = createHourSums();
    add(sums, 1);
    add(sums, 1, {}, 'user:b');
    expect([...sums.list()].map(({ account }) => account)).toEqual(['user:a', 'user:b']);
  });
});
