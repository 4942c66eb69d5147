import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { JobQueue, QueueCounts } from '../ports/queue.ts';
import type { EngineWrite } from '../ports/write-all.ts';
import type { Incident } from '../shared/incident.ts';
import { watchJobs } from './job-watch.ts';

const JOB = { kind: 'work', key: 'a', payload: null };
const WAITING = { ready: 1, delayed: 0, leased: 0 };
const IDLE = { ready: 0, delayed: 3, leased: 0 };
const HELD = { ready: 5, delayed: 0, leased: 1 };

function setUp(changes: Partial<JobQueue> = {}) {
  const clock = createFakeClock();
  const reported: Incident[] = [];
  const looks: number[] = [];
  const begun = clock.now();
  let answer: () => Promise<QueueCounts> = async () => WAITING;
  const inner = {
    enqueue: async () => ({ id: 'id', added: true }),
    counts() {
      looks.push(clock.now() - begun);
      return answer();
    },
    ...changes,
  } as unknown as JobQueue;
  const onError = (incident: Incident): void => void reported.push(incident);
  const { queue, jobWatch } = watchJobs(inner, { clock, onError });
  return {
    ...{ clock, queue, jobWatch, reported, looks },
    accept: () => queue.enqueue(JOB),
    show: (counts: QueueCounts) => {
      answer = async () => counts;
    },
    answerBy: (count: () => Promise<QueueCounts>) => {
      answer = count;
    },
  };
}

describe('accepted jobs without a worker', () => {
  it('are reported once, after two looks of five seconds', async () => {
    const { clock, accept, reported, looks } = setUp();
    await accept();
    await accept();
    await clock.advance(9_999);
    expect([looks, reported]).toEqual([[5000], []]);
    await clock.advance(1);
    expect(looks).toEqual([5000, 10_000]);
    expect(reported).toMatchObject([{ operation: 'worker', requestId: '' }]);
    expect(String(reported[0]?.error)).toContain('no worker runs them');
    await accept();
    await clock.advance(600_000);
    expect([looks.length, reported.length, clock.pending]).toEqual([2, 1, 0]);
  });

  it.each([
    ['are due later', IDLE],
    ['have a worker in another process', HELD],
  ])('are not reported while they %s, and are looked at again after a minute', async (_name, counts) => {
    const { clock, accept, show, reported, looks } = setUp();
    show(counts);
    await accept();
    await clock.advance(5000);
    await accept();
    await clock.advance(59_999);
    await accept();
    expect(looks).toEqual([5000]);
    await clock.advance(1);
    expect(clock.pending).toBe(0);
    show(WAITING);
    await accept();
    await clock.advance(10_000);
    expect(looks).toEqual([5000, 70_000, 75_000]);
    expect(reported).toHaveLength(1);
  });

  it('are not reported if a worker takes one between the looks', async () => {
    const { clock, accept, show, reported, looks } = setUp();
    await accept();
    await clock.advance(5000);
    show(HELD);
    await clock.advance(5000);
    show(WAITING);
    await clock.advance(60_000);
    await accept();
    await clock.advance(5000);
    expect(reported).toEqual([]);
    await clock.advance(5000);
    expect(reported).toHaveLength(1);
    expect(looks).toEqual([5000, 10_000, 75_000, 80_000]);
  });

  it('are not looked at without a job', async () => {
    const { clock, queue, looks } = setUp({ enqueue: () => Promise.reject(new Error('away')) });
    await expect(queue.enqueue(JOB)).rejects.toThrow('away');
    await clock.advance(60_000);
    expect([looks, clock.pending]).toEqual([[], 0]);
  });
});

describe('a process with a worker', () => {
  it('does not look at its jobs, until the last worker has stopped', async () => {
    const { clock, accept, jobWatch, reported, looks } = setUp();
    const stops = [jobWatch.workerStarted(), jobWatch.workerStarted()];
    await accept();
    expect(clock.pending).toBe(0);
    expect(await jobWatch.isUnattended()).toBe(false);
    stops[0]?.();
    await accept();
    expect(clock.pending).toBe(0);
    expect(await jobWatch.isUnattended()).toBe(false);
    expect(looks).toEqual([]);
    stops[1]?.();
    expect(await jobWatch.isUnattended()).toBe(true);
    await accept();
    await clock.advance(10_000);
    expect(reported).toHaveLength(1);
  });

  it('attends to jobs that it accepted before, also when it starts during a look', async () => {
    const { clock, accept, jobWatch, answerBy, reported, looks } = setUp();
    await accept();
    let answer = (_counts: QueueCounts): void => undefined;
    answerBy(() => new Promise((resolve) => (answer = resolve)));
    await clock.advance(5000);
    expect(looks).toEqual([5000]);
    jobWatch.workerStarted();
    answer(WAITING);
    await clock.advance(0);
    await clock.advance(60_000);
    expect([looks, reported, clock.pending]).toEqual([[5000], [], 0]);
  });
});

describe('the state of the queue', () => {
  it.each([
    [WAITING, true],
    [IDLE, false],
    [HELD, false],
    [{ ready: 0, delayed: 0, leased: 1 }, false],
  ])('with %j is unattended: %s', async (counts, expected) => {
    const { jobWatch, show } = setUp();
    show(counts);
    expect(await jobWatch.isUnattended()).toBe(expected);
  });

  it('is attended while the queue is unavailable', async () => {
    const { clock, accept, jobWatch, answerBy, reported } = setUp();
    answerBy(() => Promise.reject(new Error('away')));
    expect(await jobWatch.isUnattended()).toBe(false);
    await accept();
    await clock.advance(600_000);
    expect(reported).toEqual([]);
  });
});

it('calls listeners after each accepted job, until they end', async () => {
  const { accept, jobWatch } = setUp();
  const heard: string[] = [];
  const listener = (): void => void heard.push('same');
  const end = jobWatch.onAccepted(listener);
  jobWatch.onAccepted(listener);
  const endOnce = jobWatch.onAccepted(() => {
    heard.push('once');
    endOnce();
  });
  expect(await accept()).toEqual({ id: 'id', added: true });
  expect(heard).toEqual(['same', 'same', 'once']);
  end();
  end();
  await accept();
  expect(heard).toEqual(['same', 'same', 'once', 'same']);
});

it('passes all calls on', async () => {
  const names = ['lease', 'renew', 'finish', 'retry', 'findKeys', 'counts', 'onReady', 'enqueue'] as const;
  const spies = names.map((name) => [name, async (...given: unknown[]) => [name, ...given]]);
  const { queue } = setUp(Object.fromEntries(spies));
  const calls = queue as unknown as Record<string, (...given: unknown[]) => Promise<unknown[]>>;
  const sizes = { lease: 2, renew: 3, finish: 2, retry: 3, findKeys: 2, counts: 1, onReady: 1, enqueue: 2 };
  for (const name of names) {
    const given = [1, 2, 3].slice(0, sizes[name]);
    expect(await calls[name]?.(...given)).toEqual([name, ...given]);
  }
  expect(setUp().queue).not.toHaveProperty('findKeys');
  expect(setUp().queue).not.toHaveProperty('writes');
});

it('knows jobs that a store writes in one step', () => {
  const applied: string[] = [];
  const toWrite = (name: string): EngineWrite => ({
    ...{ do: 'engine', engine: {}, work: name },
    applied: () => void applied.push(name),
  });
  const writes = { enqueue: () => toWrite('enqueue'), finish: () => toWrite('finish') };
  const { clock, queue, jobWatch } = setUp({ writes });
  jobWatch.onAccepted(() => void applied.push('accepted'));
  const finish = queue.writes?.finish({} as never);
  finish?.applied();
  expect([finish?.work, applied, clock.pending]).toEqual(['finish', ['finish'], 0]);
  const enqueue = queue.writes?.enqueue(JOB);
  expect([enqueue?.work, clock.pending]).toEqual(['enqueue', 0]);
  enqueue?.applied();
  expect([applied, clock.pending]).toEqual([['finish', 'enqueue', 'accepted'], 1]);
});
