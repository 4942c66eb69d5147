import { describe, expect, it } from 'vitest';
import { QUEUES, setUp, turns } from '../../test/worker.ts';

describe.each(QUEUES)('worker on a %s', (_name, createQueue) => {
  it('does nothing before it is started, then runs all waiting jobs', async () => {
    const { queue, worker, ran } = setUp(createQueue, async () => undefined);
    await queue.enqueue({ kind: 'work', payload: 1, key: 'a' });
    await turns();
    expect(ran).toEqual([]);
    worker.start();
    await queue.enqueue({ kind: 'work', payload: 2, key: 'b' });
    await turns();
    expect(ran).toEqual([1, 2]);
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
  });

  it('runs the configured number of concurrent jobs of each kind', async () => {
    const gates: (() => void)[] = [];
    const { queue, worker, ran } = setUp(
      createQueue,
      () => new Promise((resolve) => gates.push(() => resolve(undefined))),
      { work: 2, other: 1 },
    );
    worker.start();
    for (const key of ['a', 'b', 'c']) await queue.enqueue({ kind: 'work', payload: key, key });
    for (const key of ['x', 'y']) await queue.enqueue({ kind: 'other', payload: key, key });
    await turns();
    expect(ran).toEqual(['a', 'b', 'x']);
    gates[0]?.();
    await turns();
    expect(ran).toEqual(['a', 'b', 'x', 'c']);
    gates[2]?.();
    await turns();
    expect(ran).toEqual(['a', 'b', 'x', 'c', 'y']);
  });

  it('leaves slots free for other owners when one owner has more jobs than its limit', async () => {
    const gates: (() => void)[] = [];
    const { queue, worker, ran } = setUp(
      createQueue,
      () => new Promise((resolve) => gates.push(() => resolve(undefined))),
      { work: 6 },
    );
    worker.start();
    for (let at = 0; at < 5; at += 1) {
      await queue.enqueue({ kind: 'work', payload: `hog ${at}`, key: `hog ${at}`, owner: 'hog' });
    }
    await turns();
    expect(ran).toEqual(['hog 0', 'hog 1']);
    for (const owner of ['a', 'b']) await queue.enqueue({ kind: 'work', payload: owner, key: owner, owner });
    await queue.enqueue({ kind: 'work', payload: 'none', key: 'none' });
    await turns();
    expect(ran.slice(2).sort()).toEqual(['a', 'b', 'none']);
    gates[0]?.();
    await turns();
    expect(ran.slice(5)).toEqual(['hog 2']);
  });

  it('runs the configured number of jobs of one owner', async () => {
    const { queue, worker, ran } = setUp(
      createQueue,
      () => new Promise(() => undefined),
      { work: 6 },
      {},
      { work: 4 },
    );
    worker.start();
    for (let at = 0; at < 6; at += 1) {
      await queue.enqueue({ kind: 'work', payload: at, key: `${at}`, owner: 'a' });
    }
    await turns();
    expect(ran).toEqual([0, 1, 2, 3]);
  });

  it('waits until a job is due', async () => {
    const { clock, queue, worker, ran } = setUp(createQueue, async () => undefined);
    worker.start();
    await queue.enqueue({ kind: 'work', payload: 'later', key: 'a', runAt: clock.now() + 5000 });
    await clock.advance(4999);
    await turns();
    expect(ran).toEqual([]);
    await clock.advance(1);
    await turns();
    expect(ran).toEqual(['later']);
  });

  it('finds jobs without a notification by polling', async () => {
    const { clock, queue, worker, ran } = setUp(
      (time) => ({ ...createQueue(time), onReady: () => () => undefined }),
      async () => undefined,
    );
    worker.start();
    await turns();
    await queue.enqueue({ kind: 'work', payload: 1, key: 'a' });
    await turns();
    expect(ran).toEqual([]);
    await clock.advance(1000);
    await turns();
    expect(ran).toEqual([1]);
  });
});
