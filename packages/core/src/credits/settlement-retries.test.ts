import { createFakeClock } from '@questline/testing';
import { describe, expect, test } from 'vitest';
import { createMemoryLedger } from '../memory/ledger.ts';
import { createMemoryStore } from '../memory/store.ts';
import type { CreditLedger } from '../ports/ledger.ts';
import type { Incident } from '../shared/incident.ts';
import { createBudgets } from './budgets.ts';
import { createHoldHeartbeat } from './hold-heartbeat.ts';
import { reserve } from './reservations.ts';
import { createSettlementRetries } from './settlement-retries.ts';

const account = 'user:a';
const HOUR_MS = 3_600_000;
const AWAY = new Error('away');

/** A ledger with 100 micro-credits that is away, hangs or works. */
async function setUp({ jitter = 255 } = {}) {
  const clock = createFakeClock();
  const sound = createMemoryLedger({ clock });
  await sound.grant({ account, amount: 100, key: 'start', reason: 'start' });
  const state = { outage: 'none' as 'none' | 'rejects' | 'hangs', settlements: [] as number[] };
  const guard = <A extends unknown[], T>(work: (...args: A) => Promise<T>) => {
    return (...args: A): Promise<T> => {
      if (state.outage === 'hangs') return new Promise(() => undefined);
      return state.outage === 'rejects' ? Promise.reject(AWAY) : work(...args);
    };
  };
  const ledger: CreditLedger = {
    ...sound,
    renewAll: guard(async (holds, until) => (await sound.renewAll?.(holds, until)) ?? 0),
    release: guard((hold) => sound.release(hold)),
    settle(...args) {
      state.settlements.push(clock.now());
      return guard((...some: typeof args) => sound.settle(...some))(...args);
    },
  };
  const incidents: Incident[] = [];
  const onError = (incident: Incident) => void incidents.push(incident);
  const settlementRetries = createSettlementRetries({
    clock,
    ids: { bytes: () => Uint8Array.of(jitter) },
    onError,
  });
  const services = {
    ...{ ledger, clock, onError, settlementRetries },
    budgets: createBudgets({ store: createMemoryStore(), clock }),
    heartbeat: createHoldHeartbeat({ ledger, clock, onError }),
  };
  const hold = (key: string, amount: number) =>
    reserve(services, {
      ...{ key, payer: { account, userId: 'a' }, amount, operation: 'test', requestId: 'r', metered: true },
    });
  const messages = (): string[] =>
    incidents.filter(({ operation }) => operation === 'test').map(({ error }) => String(error));
  return { clock, sound, state, hold, settlementRetries, incidents, messages };
}

describe('a settlement that failed', () => {
  test('charges once, in full, after an outage of 20 hours, and frees the rest of its hold', async () => {
    const { clock, sound, state, hold, messages } = await setUp();
    const call = await hold('call', 60);
    state.outage = 'rejects';
    expect(await call.settle(25, {})).toBeUndefined();
    await clock.advance(20 * HOUR_MS);
    expect(await sound.balance(account)).toMatchObject({ posted: 100 });
    state.outage = 'none';
    await clock.advance(5 * 60_000);
    expect(await sound.balance(account)).toMatchObject({ posted: 75, held: 0 });
    expect(await sound.charges({ account }, 10)).toHaveLength(1);
    const tries = state.settlements.length;
    await clock.advance(HOUR_MS);
    expect(state.settlements).toHaveLength(tries);
    expect(clock.pending).toBe(0);
    // Eight at first, then one in an hour.
    expect(messages().length).toBeLessThanOrEqual(8 + 20);
  });

  test('keeps its hold while it is retried, and none after 24 hours, when it is reported with its call', async () => {
    const { clock, sound, state, hold, messages } = await setUp();
    const call = await hold('call', 60);
    const settle = sound.settle;
    state.outage = 'rejects';
    await call.settle(25, {});
    state.outage = 'none';
    (sound as { settle: CreditLedger['settle'] }).settle = () => Promise.reject(AWAY);
    await clock.advance(23 * HOUR_MS);
    expect(await sound.balance(account)).toMatchObject({ held: 60 });
    await clock.advance(HOUR_MS + 300_000);
    expect(clock.pending).toBe(0);
    expect(messages().at(-1)).toBe(
      'Error: the charge of 25 micro-credits of user:a with the key call is not settled: every retry of 24 hours has failed',
    );
    (sound as { settle: CreditLedger['settle'] }).settle = settle;
    await clock.advance(60_000);
    expect((await sound.balance(account)).held).toBe(0);
  });

  test('is reported in its first tries, then once an hour, until it is given up after exactly 24 hours', async () => {
    const { settlementRetries, clock, incidents, messages } = await setUp();
    const failed = { operation: 'test', requestId: 'r', description: 'the call', onEnd: () => undefined };
    settlementRetries.add({ ...failed, work: () => Promise.reject(AWAY) }, AWAY);
    const start = clock.now();
    const times: number[] = [];
    for (let known = 0; clock.pending > 0; ) {
      await clock.advance(clock.now() - start < 600_000 ? 100 : 60_000);
      if (messages().length > known) times.push(clock.now() - start);
      known = messages().length;
    }
    const hours = times.filter((ms) => ms > 501_200);
    // Each pause lasts 300 seconds at the end.
    expect(times.slice(0, times.length - hours.length)).toEqual([
      ...[100, 200, 1200, 6200, 21_200, 81_200, 201_200, 501_200],
    ]);
    expect(hours.slice(0, 3)).toEqual([4_140_000, 7_740_000, 11_340_000]);
    expect(times.at(-1)).toBeGreaterThanOrEqual(24 * HOUR_MS);
    expect(times.at(-1)).toBeLessThan(24 * HOUR_MS + 300_000);
    await settlementRetries.flush();
    expect(messages().at(-1)).toContain('every retry of 24 hours has failed');
    expect(incidents.at(-1)?.error).toMatchObject({ cause: AWAY });
  });

  test('waits up to a fifth less, so that many are not retried at once', async () => {
    const { clock, state, hold } = await setUp({ jitter: 0 });
    const call = await hold('call', 60);
    state.outage = 'rejects';
    const start = clock.now();
    await call.settle(25, {});
    await clock.advance(HOUR_MS);
    expect(state.settlements.slice(0, 5).map((time) => time - start)).toEqual([0, 160, 960, 4960, 16_960]);
    expect((state.settlements.at(-1) ?? 0) - (state.settlements.at(-2) ?? 0)).toBe(240_000);
  });

  test('is given up and reported at once beyond 10,000 others', async () => {
    const { settlementRetries, messages, clock } = await setUp();
    let ended = 0;
    const add = (description: string) =>
      settlementRetries.add(
        {
          ...{ operation: 'test', requestId: 'r', description },
          work: async () => undefined,
          onEnd() {
            ended += 1;
          },
        },
        AWAY,
      );
    for (let number = 0; number < 10_000; number += 1) add('one');
    expect([ended, messages().length]).toEqual([0, 10_000]);
    add('the last');
    expect(ended).toBe(1);
    expect(messages().slice(10_000)).toEqual([
      'Error: away',
      'Error: the last is not settled: 10000 others wait for a retry',
    ]);
    await clock.advance(200);
    expect(ended).toBe(10_001);
  });
});

describe('the last retry before the end of the process', () => {
  test('charges once, in full, when the ledger has just come back', async () => {
    const { clock, sound, state, hold, settlementRetries, messages } = await setUp();
    const calls = [await hold('one', 40), await hold('two', 40)];
    state.outage = 'rejects';
    for (const call of calls) await call.settle(25, {});
    state.outage = 'none';
    await settlementRetries.flush();
    expect(await sound.balance(account)).toMatchObject({ posted: 50, held: 0 });
    expect(messages()).toHaveLength(2);
    expect(clock.pending).toBe(0);
    await settlementRetries.flush();
    expect(await sound.charges({ account }, 10)).toHaveLength(2);
  });

  test('reports what is still not settled, and goes on if the process stays', async () => {
    const { clock, sound, state, hold, settlementRetries, messages } = await setUp();
    const call = await hold('call', 60);
    state.outage = 'rejects';
    await call.settle(25, {});
    await settlementRetries.flush();
    expect(messages().at(-1)).toBe(
      'Error: the charge of 25 micro-credits of user:a with the key call is not settled: the API was closed before a retry succeeded',
    );
    state.outage = 'none';
    await clock.advance(1000);
    expect(await sound.balance(account)).toMatchObject({ posted: 75, held: 0 });
  });

  test('ends after 5 seconds while the ledger hangs', async () => {
    const { clock, state, hold, settlementRetries, messages } = await setUp();
    const call = await hold('call', 60);
    state.outage = 'rejects';
    await call.settle(25, {});
    state.outage = 'hangs';
    let isDone = false;
    const flushed = settlementRetries.flush().then(() => {
      isDone = true;
    });
    await clock.advance(4999);
    expect(isDone).toBe(false);
    await clock.advance(1);
    await flushed;
    expect(messages()).toHaveLength(2);
  });

  test('begins no further tries after 5 seconds, and repeats none that has succeeded', async () => {
    const { clock, settlementRetries } = await setUp();
    const tries: number[] = [];
    const ends: (() => void)[] = [];
    let isAway = true;
    for (let number = 0; number < 40; number += 1) {
      const work = () => {
        if (isAway) return Promise.reject(AWAY);
        tries.push(number);
        return new Promise<void>((resolve) => ends.push(resolve));
      };
      const failed = { operation: 'test', requestId: 'r', description: 'one', onEnd: () => undefined };
      settlementRetries.add({ ...failed, work }, AWAY);
    }
    // After three failures, the next pause is longer than a flush.
    await clock.advance(6200);
    isAway = false;
    const flushed = settlementRetries.flush();
    await clock.advance(5000);
    await flushed;
    expect(tries).toHaveLength(32);
    for (const end of ends.splice(0)) end();
    await clock.advance(0);
    expect(tries).toHaveLength(32);
    const again = settlementRetries.flush();
    await clock.advance(0);
    for (const end of ends.splice(0)) end();
    await again;
    expect(tries.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, at) => at));
    expect(clock.pending).toBe(0);
  });

  test('does not repeat a retry that succeeds meanwhile', async () => {
    const { clock, settlementRetries } = await setUp();
    let tries = 0;
    let end = (): void => undefined;
    const work = () => {
      tries += 1;
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    };
    settlementRetries.add(
      { operation: 'test', requestId: 'r', description: 'one', work, onEnd: () => undefined },
      AWAY,
    );
    await clock.advance(200);
    const flushed = settlementRetries.flush();
    end();
    await flushed;
    expect(tries).toBe(1);
  });

  test('follows a retry that began during the outage', async () => {
    const { clock, sound, state, hold, settlementRetries } = await setUp();
    const call = await hold('call', 60);
    state.outage = 'rejects';
    await call.settle(25, {});
    const settle = sound.settle;
    let fail = (): void => undefined;
    state.outage = 'none';
    (sound as { settle: CreditLedger['settle'] }).settle = () =>
      new Promise((_, reject) => {
        fail = () => reject(AWAY);
      });
    await clock.advance(200);
    (sound as { settle: CreditLedger['settle'] }).settle = settle;
    const flushed = settlementRetries.flush();
    fail();
    await flushed;
    expect(await sound.balance(account)).toMatchObject({ posted: 75, held: 0 });
    expect(await sound.charges({ account }, 10)).toHaveLength(1);
  });
});
