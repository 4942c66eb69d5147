import { createFakeClock } from '@questline/testing';
import { expect, it } from 'vitest';
import type { Call } from '../contract/call.ts';
import { createMemoryStore } from '../memory/store.ts';
import type { Store } from '../ports/store.ts';
import {
  createIdempotency,
  type Idempotency,
  type IdempotentRequest,
  type ReportEnd,
} from './idempotency.ts';
import { IDEMPOTENCY } from './idempotency-records.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

const ADA = { kind: 'token', userId: 'ada', isAdmin: false } as const;

function request(
  key: string | undefined,
  {
    body = {},
    path = '/things',
    caller = ADA as object,
  }: { body?: unknown; path?: string; caller?: object } = {},
): IdempotentRequest {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  return { call: { caller, request: { headers } } as unknown as Call, path, body };
}

function setUp(store: Store = createMemoryStore()) {
  const clock = createFakeClock();
  const idempotency = createIdempotency({ store, clock });
  let number = 0;
  const work = async (): Promise<number> => {
    number += 1;
    return number;
  };
  const once = (wanted: IdempotentRequest) => idempotency.once(wanted, work);
  const kept = () => store.collection(IDEMPOTENCY).find({});
  return { clock, store, idempotency, once, kept };
}

it('runs work once per key, for 24 hours after its end', async () => {
  const { clock, idempotency, once } = setUp();
  const slow = async (): Promise<string> => {
    await clock.advance(MINUTE_MS);
    return 'slow';
  };
  expect(await idempotency.once(request('a'), slow)).toEqual({ answer: 'slow', isRepeated: false });
  await clock.advance(24 * HOUR_MS - 1);
  expect(await once(request('a'))).toEqual({ answer: 'slow', isRepeated: true });
  await clock.advance(1);
  expect(await once(request('a'))).toEqual({ answer: 1, isRepeated: false });
  expect(await once(request('a'))).toEqual({ answer: 1, isRepeated: true });
});

it('runs work without a key each time, and keeps nothing', async () => {
  const { idempotency, once, kept } = setUp();
  expect(await once(request(undefined))).toEqual({ answer: 1, isRepeated: false });
  expect(await once(request(undefined))).toEqual({ answer: 2, isRepeated: false });
  expect(idempotency.claim(request(undefined))).toBeUndefined();
  expect(await kept()).toEqual([]);
  const failed = idempotency.once(request(undefined), () => Promise.reject(new Error('away')));
  await expect(failed).rejects.toThrow('away');
});

it('keeps callers, paths and keys apart', async () => {
  const { once } = setUp();
  const callers = [
    ADA,
    { kind: 'token', userId: 'bob' },
    { kind: 'key', userId: 'ada', keyId: 'first' },
    { kind: 'key', userId: 'ada', keyId: 'second' },
    { kind: 'key', userId: 'bob', keyId: 'ada' },
  ];
  for (const [at, caller] of callers.entries()) {
    expect(await once(request('a', { caller }))).toEqual({ answer: at + 1, isRepeated: false });
  }
  expect(await once(request('a', { path: '/others' }))).toMatchObject({ isRepeated: false });
  expect(await once(request('b'))).toMatchObject({ isRepeated: false });
  for (const [at, caller] of callers.entries()) {
    expect(await once(request('a', { caller }))).toEqual({ answer: at + 1, isRepeated: true });
  }
});

it('compares bodies by their values, not by the order of their fields', async () => {
  const { once } = setUp();
  await once(request('a', { body: { one: 1, two: { c: null, d: [1, 2] } } }));
  const same = request('a', { body: { two: { d: [1, 2], c: null }, one: 1 } });
  expect(await once(same)).toEqual({ answer: 1, isRepeated: true });
  for (const two of [{ c: null, d: [2, 1] }, { c: 0, d: [1, 2] }, { c: null, d: { 0: 1, 1: 2 } }, null]) {
    const other = once(request('a', { body: { one: 1, two } }));
    await expect(other).rejects.toMatchObject({ status: 422, code: 'idempotency_key_reused' });
  }
});

it.each(['', 'x'.repeat(256), 'ä', 'a\n'])('refuses the key %j', async (key) => {
  const { idempotency, once, kept } = setUp();
  const refusal = { status: 422, code: 'invalid_idempotency_key' };
  await expect(once(request(key))).rejects.toMatchObject(refusal);
  await expect(
    idempotency.accept(request(key), () => Promise.reject(new Error('prepared'))),
  ).rejects.toMatchObject(refusal);
  expect(await kept()).toEqual([]);
});

it.each(['x', ' ~', 'x'.repeat(255)])('takes the key %j', async (key) => {
  const { once } = setUp();
  await once(request(key));
  expect(await once(request(key))).toMatchObject({ isRepeated: true });
});

const RUNS = { status: 409, headers: { 'Retry-After': '1' } };

/** The claim of a key by a first request. */
async function claimFirst({ claim }: Pick<Idempotency, 'claim'>): Promise<ReportEnd<string>> {
  const claimed = await claim<string>(request('a'));
  if (claimed === undefined || claimed.isRepeated) throw new Error('not the first request');
  return claimed.end;
}

it('refuses a request while the first one runs, and for 15 minutes at most after a crash', async () => {
  const { clock, store, once } = setUp();
  // The clock of a process that has crashed stands still.
  const crashed = createFakeClock(clock.now());
  await claimFirst(createIdempotency({ store, clock: crashed }));
  await clock.advance(15 * MINUTE_MS - 1);
  await expect(once(request('a'))).rejects.toMatchObject(RUNS);
  await clock.advance(1);
  expect(await once(request('a'))).toEqual({ answer: 1, isRepeated: false });
});

it('refuses a request while the first one runs for hours, also if a renewal of its lease fails', async () => {
  const store = createMemoryStore();
  const records = store.collection(IDEMPOTENCY);
  let renewals = 0;
  const failing = {
    ...records,
    async update(...args: Parameters<typeof records.update>) {
      renewals += 1;
      // The second one takes effect all the same.
      if (renewals === 1) throw new Error('away');
      const renewed = await records.update(...args);
      if (renewals === 2) throw new Error('lost');
      return renewed;
    },
  };
  const { clock, idempotency, once } = setUp({ ...store, collection: () => failing as never });
  const end = await claimFirst(idempotency);
  for (let minute = 0; minute < 180; minute += 1) {
    await clock.advance(MINUTE_MS);
    await expect(once(request('a'))).rejects.toMatchObject(RUNS);
  }
  await end.complete('first');
  await clock.advance(24 * HOUR_MS - 1);
  expect(await once(request('a'))).toEqual({ answer: 'first', isRepeated: true });
  await clock.advance(1);
  expect(await once(request('a'))).toEqual({ answer: 1, isRepeated: false });
});

it('frees the key of work that fails after hours', async () => {
  const { clock, idempotency, once, kept } = setUp();
  const end = await claimFirst(idempotency);
  await clock.advance(180 * MINUTE_MS);
  await end.fail(false);
  expect(await kept()).toEqual([]);
  expect(await once(request('a'))).toEqual({ answer: 1, isRepeated: false });
});

it.each<[string, (end: ReportEnd<string>) => Promise<void>]>([
  ['completes', (end) => end.complete('late')],
  ['fails', (end) => end.fail(false)],
])('leaves the key of other work alone when work %s after its lease', async (_title, finish) => {
  const { clock, store, idempotency, once } = setUp();
  const paused = createFakeClock(clock.now());
  const late = await claimFirst(createIdempotency({ store, clock: paused }));
  await clock.advance(15 * MINUTE_MS);
  const end = await claimFirst(idempotency);
  await finish(late);
  await expect(once(request('a'))).rejects.toMatchObject(RUNS);
  await end.complete('second');
  expect(await once(request('a'))).toEqual({ answer: 'second', isRepeated: true });
});

it('refuses a request whose first one ends at the same moment', async () => {
  const store = createMemoryStore();
  const records = { ...store.collection(IDEMPOTENCY), insert: async () => false, get: async () => undefined };
  const { once } = setUp({ ...store, collection: () => records as never });
  await expect(once(request('a'))).rejects.toMatchObject({ status: 409, headers: { 'Retry-After': '1' } });
});

it('forgets work that failed without a charge', async () => {
  const { idempotency, once, kept } = setUp();
  const failed = idempotency.once(request('a'), () => Promise.reject(new Error('away')));
  await expect(failed).rejects.toThrow('away');
  expect(await kept()).toEqual([]);
  expect(await once(request('a'))).toEqual({ answer: 1, isRepeated: false });
});

it('refuses to repeat charged work that failed, for 24 hours', async () => {
  const { clock, idempotency, once } = setUp();
  const failed = idempotency.once(request('a'), async (onCharge) => {
    onCharge();
    throw new Error('away');
  });
  await expect(failed).rejects.toThrow('away');
  await clock.advance(24 * HOUR_MS - 1);
  const spent = { status: 409, code: 'idempotency_key_spent' };
  await expect(once(request('a'))).rejects.toMatchObject(spent);
  const accepted = idempotency.accept(request('a'), () => Promise.reject(new Error('prepared')));
  await expect(accepted).rejects.toMatchObject(spent);
  await clock.advance(1);
  expect(await once(request('a'))).toEqual({ answer: 1, isRepeated: false });
});

it('keeps answers of up to 2 ** 20 characters', async () => {
  const { idempotency, once } = setUp();
  // With the quotation marks of JSON.
  const longest = 'x'.repeat(2 ** 20 - 2);
  await idempotency.once(request('a'), async () => longest);
  expect((await once(request('a'))).answer).toBe(longest);
  expect(await idempotency.once(request('b'), async () => `${longest}x`)).toMatchObject({
    isRepeated: false,
  });
  await expect(once(request('b'))).rejects.toMatchObject({ status: 409, code: 'idempotency_key_spent' });
});

it('ends a claim once', async () => {
  const { idempotency, once } = setUp();
  const claim = await idempotency.claim<string>(request('a'));
  if (claim === undefined || claim.isRepeated) throw new Error('not the first request');
  await claim.end.complete('first');
  await claim.end.complete('second');
  await claim.end.fail(true);
  await claim.end.fail(false);
  expect(await once(request('a'))).toEqual({ answer: 'first', isRepeated: true });
  expect(await idempotency.claim(request('a'))).toEqual({ answer: 'first', isRepeated: true });
});

it('answers after the answer is stored', async () => {
  const store = createMemoryStore();
  const records = {
    ...store.collection(IDEMPOTENCY),
    update: () => Promise.reject(new Error('store away')),
    // Only the deletion of an expired key succeeds.
    take: (_id: string, guard: { readonly expiresAt: object }) =>
      'lte' in guard.expiresAt ? Promise.resolve(undefined) : Promise.reject(new Error('not forgotten')),
  };
  const { once, idempotency } = setUp({ ...store, collection: () => records as never });
  await expect(once(request('a'))).rejects.toThrow('store away');
  const failed = idempotency.once(request('b'), () => Promise.reject(new Error('away')));
  await expect(failed).rejects.toThrow('not forgotten');
});

it('deletes expired keys, and no others', async () => {
  const { clock, idempotency, once, kept } = setUp();
  await once(request('a'));
  await clock.advance(1);
  await once(request('b'));
  await clock.advance(24 * HOUR_MS - 2);
  await idempotency.sweep();
  expect(await kept()).toHaveLength(2);
  await clock.advance(1);
  await idempotency.sweep();
  expect(await kept()).toHaveLength(1);
  expect(await once(request('b'))).toMatchObject({ isRepeated: true });
});

it('reports a store that fails while it deletes', async () => {
  const store = createMemoryStore();
  const records = { ...store.collection(IDEMPOTENCY), removeWhere: () => Promise.reject(new Error('away')) };
  const { idempotency } = setUp({ ...store, collection: () => records as never });
  await expect(idempotency.sweep()).rejects.toThrow('away');
});

it('reports a store that fails while it deletes an expired key', async () => {
  const store = createMemoryStore();
  const records = { ...store.collection(IDEMPOTENCY), take: () => Promise.reject(new Error('away')) };
  const away = setUp({ ...store, collection: () => records as never });
  await expect(away.idempotency.claim(request('a'))).rejects.toThrow('away');
  const prepare = async () => ({ answer: 1, write: () => Promise.resolve() });
  expect(await away.idempotency.accept(request('b'), prepare)).toMatchObject({ isRepeated: false });
  await away.clock.advance(24 * HOUR_MS);
  await expect(away.idempotency.accept(request('b'), prepare)).rejects.toThrow('away');
});
