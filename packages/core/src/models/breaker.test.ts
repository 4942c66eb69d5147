import { getEventListeners } from 'node:events';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { ProviderError, type ProviderErrorKind } from '../ports/models.ts';
import { StorageUnavailable } from '../ports/store.ts';
import { ApiError } from '../shared/errors.ts';
import { type Circuit, createCircuitBreaker, getCircuit } from './breaker.ts';
import type { CatalogueEntry } from './catalogue.ts';

const DOWN = new ProviderError('timeout', 'sent nothing');

const of = (callerId: string, more: Partial<Circuit> = {}): Circuit => ({
  providerId: 'openai',
  model: 'm',
  credential: undefined,
  callerId,
  ...more,
});

function setUp() {
  const clock = createFakeClock();
  const breaker = createCircuitBreaker(clock);
  /** Calls that fail. Open circuits refuse them. */
  const fail = async (circuit: Circuit, times = 1, error: unknown = DOWN): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      await breaker.call(circuit, undefined, () => Promise.reject(error)).catch(() => undefined);
    }
  };
  const answer = (circuit: Circuit) => breaker.call(circuit, undefined, async () => 'fine');
  return { clock, breaker, fail, answer };
}

describe('a circuit', () => {
  it('opens for its caller after five failures in a row, for 30 seconds', async () => {
    const { clock, breaker, fail, answer } = setUp();
    expect(breaker.retryAfterMs(of('ada'))).toBe(0);
    await fail(of('ada'), 4);
    expect(await answer(of('ada'))).toBe('fine');
    await fail(of('ada'), 4);
    expect(breaker.retryAfterMs(of('ada'))).toBe(0);
    await clock.advance(1000);
    await fail(of('ada'));
    expect(breaker.retryAfterMs(of('ada'))).toBe(30_000);
    await clock.advance(29_999);
    expect(breaker.retryAfterMs(of('ada'))).toBe(1);
    await expect(answer(of('ada'))).rejects.toMatchObject({
      kind: 'overloaded',
      code: 'circuit_open',
      retryAfterMs: 1,
    });
    await clock.advance(1);
    expect(await answer(of('ada'))).toBe('fine');
    expect(breaker.retryAfterMs(of('ada'))).toBe(0);
  });

  it('counts three failures of a caller for all callers', async () => {
    const { breaker, fail } = setUp();
    await fail(of('bob'), 4);
    await fail(of('cy'));
    expect(breaker.retryAfterMs(of('dan'))).toBe(0);
    await fail(of('cy'));
    expect(breaker.retryAfterMs(of('dan'))).toBe(30_000);
  });

  it.each([
    ['provider', { providerId: 'other' }],
    ['model', { model: 'other' }],
    ['credential', { credential: 'other' }],
  ])('does not count failures of another %s', async (_title, other) => {
    const { breaker, fail } = setUp();
    await fail(of('bob'), 3);
    await fail(of('cy', other), 3);
    expect(breaker.retryAfterMs(of('dan'))).toBe(0);
    expect(breaker.retryAfterMs(of('dan', other))).toBe(0);
    await fail(of('bob', other), 4);
    expect(breaker.retryAfterMs(of('bob'))).toBe(0);
    expect(breaker.retryAfterMs(of('bob', other))).toBe(30_000);
  });

  it('is remembered for its caller when the circuit of all callers is closed', async () => {
    const { breaker, fail, answer } = setUp();
    await fail(of('bob'), 4);
    await answer(of('cy'));
    expect(await answer(of('bob'))).toBe('fine');
    await fail(of('bob'));
    expect(breaker.retryAfterMs(of('bob'))).toBe(0);
    await fail(of('bob'), 4);
    await answer(of('cy'));
    expect(breaker.retryAfterMs(of('bob'))).toBe(30_000);
    await expect(answer(of('bob'))).rejects.toMatchObject({ code: 'circuit_open' });
  });

  it.each<[ProviderErrorKind, number | undefined, boolean]>([
    ['failed', undefined, true],
    ['failed', 500, true],
    ['failed', 503, true],
    ['failed', 499, false],
    ['overloaded', 429, true],
    ['timeout', undefined, true],
    ['rejected_key', 401, false],
    ['invalid_request', 400, false],
    ['malformed_answer', undefined, false],
  ])('for failures of the kind %s with the status %s opens: %s', async (kind, status, opens) => {
    const { breaker, fail } = setUp();
    const error = new ProviderError(kind, 'no', { status });
    await fail(of('ada'), 5, error);
    expect(breaker.retryAfterMs(of('ada'))).toBe(opens ? 30_000 : 0);
    await fail(of('bob'), 4);
    await fail(of('bob'), 1, error);
    await fail(of('bob'));
    expect(breaker.retryAfterMs(of('bob'))).toBe(opens ? 30_000 : 0);
  });

  it('opens for errors that are not of the provider, and for work that throws', async () => {
    const { breaker, fail } = setUp();
    await fail(of('ada'), 5, new Error('no connection'));
    expect(breaker.retryAfterMs(of('ada'))).toBe(30_000);
    for (let time = 0; time < 5; time += 1) {
      const asked = breaker.call(of('ada', { model: 'other' }), undefined, () => {
        throw DOWN;
      });
      await expect(asked).rejects.toBe(DOWN);
    }
    expect(breaker.retryAfterMs(of('ada', { model: 'other' }))).toBe(30_000);
  });

  it('neither counts nor forgets for errors of this server and for aborted work', async () => {
    const { breaker, fail } = setUp();
    await fail(of('ada'), 9, new ApiError(500, 'away'));
    await fail(of('ada'), 9, new StorageUnavailable('away'));
    const left = AbortSignal.abort();
    const leave = (error: unknown) =>
      expect(breaker.call(of('ada'), left, () => Promise.reject(error))).rejects.toBe(error);
    for (let time = 0; time < 5; time += 1) await leave(DOWN);
    expect(breaker.retryAfterMs(of('ada'))).toBe(0);
    await fail(of('ada'), 4);
    await leave(new ProviderError('invalid_request', 'no'));
    await fail(of('ada'), 1, new ApiError(500, 'away'));
    await fail(of('ada'), 1, new StorageUnavailable('away'));
    await fail(of('ada'));
    expect(breaker.retryAfterMs(of('ada'))).toBe(30_000);
  });
});

describe('the trial call of an open circuit', () => {
  async function openOne() {
    const all = setUp();
    await all.fail(of('ada'), 5);
    await all.clock.advance(30_000);
    return all;
  }

  it('is one at a time: others wait five seconds', async () => {
    const { breaker, answer } = await openOne();
    let end = (): void => undefined;
    const trial = breaker.call(of('ada'), undefined, () => new Promise<void>((resolve) => (end = resolve)));
    expect(breaker.retryAfterMs(of('ada'))).toBe(5000);
    await expect(answer(of('ada'))).rejects.toMatchObject({ code: 'circuit_open', retryAfterMs: 5000 });
    end();
    await trial;
    expect(await answer(of('ada'))).toBe('fine');
  });

  it('closes the circuit with any answer of the provider', async () => {
    const { breaker, fail } = await openOne();
    await fail(of('ada'), 1, new ProviderError('invalid_request', 'no'));
    expect(breaker.retryAfterMs(of('ada'))).toBe(0);
    await fail(of('ada'), 4);
    expect(breaker.retryAfterMs(of('ada'))).toBe(0);
  });

  it('opens the circuit again when it fails', async () => {
    const { clock, breaker, fail } = await openOne();
    await clock.advance(1000);
    await fail(of('ada'));
    expect(breaker.retryAfterMs(of('ada'))).toBe(30_000);
    await clock.advance(30_000);
    expect(breaker.retryAfterMs(of('ada'))).toBe(0);
  });

  it('opens the circuit of all again, also when its caller has three counted failures', async () => {
    const { clock, breaker, fail } = setUp();
    await fail(of('bob'), 3);
    await fail(of('cy'), 2);
    await clock.advance(30_000);
    await fail(of('bob'));
    expect(breaker.retryAfterMs(of('dan'))).toBe(30_000);
    await clock.advance(30_000);
    expect(breaker.retryAfterMs(of('dan'))).toBe(0);
  });

  it('that failed for a reason of this server leaves the next call the trial', async () => {
    const { breaker, fail } = await openOne();
    await fail(of('ada'), 1, new ApiError(500, 'away'));
    expect(breaker.retryAfterMs(of('ada'))).toBe(0);
    await fail(of('ada'));
    expect(breaker.retryAfterMs(of('ada'))).toBe(30_000);
  });

  it('makes room when it is aborted, also if the provider ignores that', async () => {
    const { breaker, answer } = await openOne();
    const leaving = new AbortController();
    let end = (): void => undefined;
    const trial = breaker.call(
      of('ada'),
      leaving.signal,
      () => new Promise<void>((resolve) => (end = resolve)),
    );
    leaving.abort();
    expect(breaker.retryAfterMs(of('ada'))).toBe(0);
    expect(await answer(of('ada'))).toBe('fine');
    end();
    await trial;
  });

  it('leaves nothing on its signal', async () => {
    const { breaker } = await openOne();
    const { signal } = new AbortController();
    await breaker.call(of('ada'), signal, async () => 'fine');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

it('names a circuit by the provider, its name for the model, the credential and the caller', () => {
  const entry = { provider: { id: 'openai' }, providerModel: 'm-2', credential: 'c' };
  expect(getCircuit(entry as CatalogueEntry, 'ada')).toEqual({
    providerId: 'openai',
    model: 'm-2',
    credential: 'c',
    callerId: 'ada',
  });
});
