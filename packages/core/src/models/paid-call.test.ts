import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openAccount, PAID_REQUEST } from '../../test/paid-calls.ts';
import { ProviderError } from '../ports/models.ts';
import { type PaidCallRequest, paidCall, type WholeCall } from './paid-call.ts';

const COST = { amount: 25, usage: { input: 1 } };

/** Starts a call, which the test answers. */
async function start(more: Partial<WholeCall<string>> = {}, request: Partial<PaidCallRequest> = {}) {
  const account = await openAccount();
  const leaving = new AbortController();
  let resolve = (_result: string): void => undefined;
  let reject = (_error: Error): void => undefined;
  const answer = new Promise<string>((whenDone, whenFailed) => {
    resolve = whenDone;
    reject = whenFailed;
  });
  let asked: AbortSignal | undefined;
  const paid = paidCall(
    account.services,
    { ...PAID_REQUEST, ...request },
    {
      signal: leaving.signal,
      whenLeft: 'stop',
      ask(signal) {
        asked = signal;
        return answer;
      },
      cost: () => COST,
      ...more,
    },
  );
  paid.catch(() => undefined);
  await turn();
  return { ...account, paid, leaving, answer: { resolve, reject }, asked: () => asked };
}

const HELD = { available: 40, held: 60 };
const FREE = { available: 100, held: 0 };
const CHARGED = { available: 75, held: 0 };

describe('paid call', () => {
  it('holds its maximum, then charges the cost of its result', async () => {
    const { paid, answer, balance, charges, clock, asked, leaving } = await start();
    expect(await balance()).toMatchObject(HELD);
    answer.resolve('done');
    expect(await paid).toBe('done');
    expect(await balance()).toMatchObject(CHARGED);
    const [charge] = await charges();
    expect(charge).toMatchObject({
      amount: 25,
      usage: { input: 1 },
      operation: 'ask',
      requestId: 'r-1',
      model: 'm',
    });
    expect([asked()?.aborted, clock.pending]).toEqual([false, 0]);
    expect(getEventListeners(leaving.signal, 'abort')).toEqual([]);
  });

  it('is free when its provider fails', async () => {
    const { paid, answer, balance, clock } = await start();
    const failure = new ProviderError('failed', 'no');
    answer.reject(failure);
    await expect(paid).rejects.toBe(failure);
    expect(await balance()).toMatchObject(FREE);
    expect(clock.pending).toBe(0);
  });

  it('is stopped and free at its limit', async () => {
    const limit = new AbortController();
    const { paid, balance, asked } = await start({ limit: limit.signal });
    limit.abort(new Error('too slow'));
    await expect(paid).rejects.toThrow('too slow');
    expect(asked()?.reason).toEqual(new Error('too slow'));
    expect(await balance()).toMatchObject(FREE);
  });

  it('is free at a limit that passes while its result arrives', async () => {
    const limit = new AbortController();
    const { paid, balance } = await start({
      limit: limit.signal,
      ask: async () => {
        limit.abort(new Error('too slow'));
        return 'done';
      },
    });
    await expect(paid).rejects.toThrow('too slow');
    expect(await balance()).toMatchObject(FREE);
  });
});

describe('paid call whose client disconnects', () => {
  it('is stopped and free', async () => {
    const { paid, leaving, balance, asked, clock } = await start();
    leaving.abort(new Error('left'));
    await expect(paid).rejects.toThrow('left');
    await turn();
    expect(asked()?.reason).toEqual(new Error('left'));
    expect(await balance()).toMatchObject(FREE);
    expect(clock.pending).toBe(0);
  });

  it('does not begin after the disconnect', async () => {
    const { paid, balance, asked, clock } = await start({ signal: AbortSignal.abort(new Error('left')) });
    await expect(paid).rejects.toThrow('left');
    await turn();
    expect(asked()).toBeUndefined();
    expect(await balance()).toMatchObject(FREE);
    expect(clock.pending).toBe(0);
  });

  it('goes on and is charged where its provider cannot stop', async () => {
    const { paid, leaving, answer, balance, asked, clock } = await start({ whenLeft: 'finish' });
    leaving.abort(new Error('left'));
    await expect(paid).rejects.toThrow('left');
    expect([asked()?.aborted, await balance()]).toMatchObject([false, HELD]);
    answer.resolve('done');
    // The settlement takes a turn.
    await turn();
    await turn();
    expect(await balance()).toMatchObject(CHARGED);
    expect(clock.pending).toBe(0);
  });

  it('is stopped and free after ten minutes without a result', async () => {
    const { paid, leaving, balance, asked, clock } = await start({ whenLeft: 'finish' });
    leaving.abort(new Error('left'));
    await expect(paid).rejects.toThrow('left');
    await clock.advance(10 * 60_000 - 1);
    expect(asked()?.aborted).toBe(false);
    await clock.advance(1);
    expect(asked()?.reason).toEqual(new Error('the client disconnected, and the provider does not answer'));
    expect([await balance(), clock.pending]).toMatchObject([FREE, 0]);
  });
});

describe('paid call that a job repeats', () => {
  it.each([
    ['keeps its hold when it is interrupted', new Error('restart'), HELD],
    ['is free when its provider fails', new ProviderError('failed', 'no'), FREE],
  ])('%s', async (_, error, expected) => {
    const { paid, answer, balance } = await start({}, { isRepeated: true });
    answer.reject(error);
    await expect(paid).rejects.toBe(error);
    expect(await balance()).toMatchObject(expected);
  });

  it('keeps its hold when the job is stopped, whatever its provider says', async () => {
    const { paid, leaving, answer, balance, clock } = await start(
      { whenLeft: 'finish' },
      { isRepeated: true },
    );
    leaving.abort(new Error('stopped'));
    answer.reject(new ProviderError('failed', 'no'));
    await expect(paid).rejects.toThrow('stopped');
    await turn();
    expect([await balance(), clock.pending]).toMatchObject([HELD, 0]);
  });
});
