import { StorageUnavailable } from '@questline/core/ports';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createGrouping, createRowGrouping } from '../src/grouping.ts';

interface Open {
  readonly calls: readonly string[];
  readonly timeoutMs: number | undefined;
  resolve(): void;
  reject(error: Error): void;
}

/** Work that goes on until the test ends it. */
function createWork() {
  const runs: Open[] = [];
  const run = <T>(calls: readonly string[], timeoutMs: number | undefined, result: T): Promise<T> =>
    new Promise((resolve, reject) => {
      runs.push({ calls, timeoutMs, resolve: () => resolve(result), reject });
    });
  const work = {
    ...{ max: 3, timeoutMs: 100, maxRunning: 1 },
    runAll: (calls: readonly string[], options: { timeoutMs?: number | undefined }) =>
      run(
        calls,
        options.timeoutMs,
        calls.map((call) => `${call} of all`),
      ),
    runOne: (call: string, options: { timeoutMs?: number | undefined }) =>
      run([call], options.timeoutMs, `${call} alone`),
  };
  return { runs, work };
}

const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('calls of one kind', () => {
  it('share a step while another one runs, and never more steps run at once, later too', async () => {
    const { runs, work } = createWork();
    const call = createGrouping(work);
    for (let round = 0; round < 2; round += 1) {
      runs.splice(0);
      const answers = ['a', 'b', 'c', 'd', 'e'].map((one) => call(one));
      expect(runs.map(({ calls }) => calls)).toEqual([['a']]);
      for (let at = 0; at < 3; at += 1) {
        expect(runs).toHaveLength(at + 1);
        runs[at]?.resolve();
        await settle();
      }
      expect(runs.map(({ calls }) => calls)).toEqual([['a'], ['b', 'c', 'd'], ['e']]);
      expect(await Promise.all(answers)).toEqual([
        ...['a alone', 'b of all', 'c of all', 'd of all', 'e alone'],
      ]);
    }
  });

  it('are not sent once their time is over, and get the rest of their time', async () => {
    const { runs, work } = createWork();
    const call = createGrouping(work);
    const first = call('first');
    const late = call('late', { timeoutMs: 30 });
    const refused = expect(late).rejects.toMatchObject({ name: 'StorageUnavailable' });
    await vi.advanceTimersByTimeAsync(30);
    await refused;
    const others = [call('b', { timeoutMs: 50 }), call('c')];
    await vi.advanceTimersByTimeAsync(10);
    runs[0]?.resolve();
    await settle();
    expect(runs.map(({ calls, timeoutMs }) => [calls, timeoutMs])).toEqual([
      [['first'], 100],
      // The longest of theirs.
      [['b', 'c'], 90],
    ]);
    runs[1]?.resolve();
    expect(await Promise.all([first, ...others])).toHaveLength(3);
  });

  it('run alone when their step fails, before the next one begins', async () => {
    const { runs, work } = createWork();
    const call = createGrouping(work);
    const answers = Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map((one) => call(one)));
    runs[0]?.resolve();
    await settle();
    runs[1]?.reject(new Error('one of them is wrong'));
    await settle();
    expect(runs.slice(2).map(({ calls }) => calls)).toEqual([['b'], ['c'], ['d']]);
    runs[2]?.reject(new Error('wrong'));
    runs[3]?.resolve();
    await settle();
    expect(runs).toHaveLength(5);
    runs[4]?.resolve();
    await settle();
    runs[5]?.resolve();
    expect((await answers).map(({ status }) => status)).toEqual([
      ...['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
    ]);
  });
});

describe('a call of one kind', () => {
  it('is not sent if its signal was aborted before, or while it waited', async () => {
    const { runs, work } = createWork();
    const call = createGrouping(work);
    const early = call('early', { signal: AbortSignal.abort(new Error('left early')) });
    await expect(early).rejects.toThrow('left early');
    expect(runs).toEqual([]);

    const control = new AbortController();
    const first = call('first');
    const left = call('left', { signal: control.signal });
    const others = ['b', 'c'].map((one) => call(one, { signal: new AbortController().signal }));
    const refused = expect(left).rejects.toThrow('left while it waited');
    control.abort(new Error('left while it waited'));
    runs[0]?.resolve();
    await refused;
    expect(runs.map(({ calls }) => calls)).toEqual([['first'], ['b', 'c']]);
    runs[1]?.resolve();
    expect(await Promise.all([first, ...others])).toEqual(['first alone', 'b of all', 'c of all']);
  });

  it('is sent with a signal that is not aborted, at once', async () => {
    const { runs, work } = createWork();
    const answer = createGrouping(work)('a', { signal: new AbortController().signal });
    expect(runs.map(({ calls }) => calls)).toEqual([['a']]);
    runs[0]?.resolve();
    expect(await answer).toBe('a alone');
  });

  it('is sent in the last millisecond of its time', async () => {
    const { runs, work } = createWork();
    const call = createGrouping(work);
    const answers = [call('first'), call('last', { timeoutMs: 30 })];
    await vi.advanceTimersByTimeAsync(29);
    runs[0]?.resolve();
    await settle();
    expect(runs.map(({ calls, timeoutMs }) => [calls, timeoutMs])).toEqual([
      [['first'], 100],
      [['last'], 1],
    ]);
    runs[1]?.resolve();
    expect(await Promise.all(answers)).toEqual(['first alone', 'last alone']);
  });

  it('fails with its step, without another try, when the engine is lost', async () => {
    const { runs, work } = createWork();
    const call = createGrouping(work);
    const answers = Promise.allSettled(['a', 'b', 'c'].map((one) => call(one)));
    runs[0]?.resolve();
    await settle();
    const lost = new StorageUnavailable('lost');
    runs[1]?.reject(lost);
    await settle();
    expect(await answers).toEqual([
      { status: 'fulfilled', value: 'a alone' },
      ...Array.from({ length: 2 }, () => ({ status: 'rejected', reason: lost })),
    ]);
    expect(runs).toHaveLength(2);
  });
});

describe('calls of rows', () => {
  it('wait for those of their own row only', async () => {
    const { runs, work } = createWork();
    const call = createRowGrouping(() => ({ ...work, maxRunning: 4 }));
    const answers = [call('x', 'a'), call('x', 'b'), call('x', 'c'), call('y', 'd')];
    expect(runs.map(({ calls }) => calls)).toEqual([['a'], ['d']]);
    runs[0]?.resolve();
    runs[1]?.resolve();
    await settle();
    expect(runs.slice(2).map(({ calls }) => calls)).toEqual([['b', 'c']]);
    runs[2]?.resolve();
    expect(await Promise.all(answers)).toEqual(['a alone', 'b of all', 'c of all', 'd alone']);
  });

  it('keep nothing of a row without calls', async () => {
    const { runs, work } = createWork();
    const rows: string[] = [];
    const call = createRowGrouping((row: string) => {
      rows.push(row);
      return work;
    });
    const answers = [call('x', 'a'), call('x', 'b')];
    runs[0]?.resolve();
    await settle();
    answers.push(call('x', 'c'));
    expect(rows).toEqual(['x']);
    runs[1]?.resolve();
    await settle();
    runs[2]?.resolve();
    await Promise.all(answers);
    void call('x', 'd');
    expect(rows).toEqual(['x', 'x']);
  });
});
