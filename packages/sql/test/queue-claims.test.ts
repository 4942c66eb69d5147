import { createFakeClock, createFakeIds } from '@questline/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPostgresDatabase, createSqlQueue } from '../src/index.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** A queue on a connection that answers claims with `found` jobs. */
function open(found = 0, options: { claimEveryMs?: number } = {}) {
  const claims: number[] = [];
  const start = performance.now();
  const rows = Array.from({ length: found }, (_, at) => ({
    ...{
      pending: false,
      sequence: at,
      id: `j${at}`,
      kind: 'work',
      owner: `o${at}`,
      payload: '{}',
      key: `k${at}`,
    },
    ...{ run_at: 1, attempt: 1, fence: 1, lease_until: 2 },
  }));
  const connection = {
    async query() {
      claims.push(performance.now() - start);
      return { rows };
    },
  };
  const clock = createFakeClock();
  const database = createPostgresDatabase({ connection });
  const queue = createSqlQueue(database, { clock, ids: createFakeIds(), ...options });
  return { claims, lease: () => queue.lease({ kinds: ['work'], limit: 3, leaseMs: 60_000 }) };
}

describe('claims on PostgreSQL', () => {
  it('begin at once, and the next after 10 ms', async () => {
    const { claims, lease } = open();
    await lease();
    const second = lease();
    await vi.advanceTimersByTimeAsync(9);
    expect(claims).toEqual([0]);
    await vi.advanceTimersByTimeAsync(1);
    await second;
    expect(claims).toEqual([0, 10]);
    await vi.advanceTimersByTimeAsync(10);
    await lease();
    const next = lease();
    await vi.advanceTimersByTimeAsync(10);
    await next;
    expect(claims).toEqual([0, 10, 20, 30]);
  });

  it('begin at once after one that found as many jobs as it may take', async () => {
    const full = open(3);
    await full.lease();
    await full.lease();
    expect(full.claims).toEqual([0, 0]);
    const { claims, lease } = open(2);
    await lease();
    const second = lease();
    await vi.advanceTimersByTimeAsync(10);
    await second;
    expect(claims).toEqual([0, 10]);
  });

  it('begin as often as the option says', async () => {
    const often = open(0, { claimEveryMs: 0 });
    await often.lease();
    await often.lease();
    expect(often.claims).toEqual([0, 0]);
    const { claims, lease } = open(0, { claimEveryMs: 1000 });
    await lease();
    const second = lease();
    await vi.advanceTimersByTimeAsync(999);
    expect(claims).toEqual([0]);
    await vi.advanceTimersByTimeAsync(1);
    await second;
    expect(claims).toEqual([0, 1000]);
  });

  it.each([-1, 1001, Number.NaN])('cannot be %s ms apart', (claimEveryMs) => {
    expect(() => open(0, { claimEveryMs })).toThrow(RangeError);
  });
});
