import { describe, expect, it } from 'vitest';
import { createLanes, isEarlier, type WaitingJob } from './lanes.ts';

function toJob(owner: string, runAt: number, number = 0): WaitingJob {
  return { slot: -1, owner, runAt, number };
}

describe('the lanes of waiting jobs', () => {
  it('have a delayed job in the millisecond in which it is due', () => {
    const lanes = createLanes<WaitingJob>();
    const job = toJob('a', 10);
    lanes.push(job, 9);
    lanes.promote(9);
    expect([lanes.ready(), lanes.next(undefined), lanes.nextDueAt()]).toEqual([0, undefined, 10]);
    lanes.promote(10);
    expect([lanes.ready(), lanes.next(undefined), lanes.nextDueAt()]).toEqual([1, job, undefined]);
    lanes.push(toJob('b', 10), 10);
    expect(lanes.ready()).toBe(2);
  });

  it('lose a delayed job that is removed, and only that', () => {
    const lanes = createLanes<WaitingJob>();
    const [due, late] = [toJob('a', 1), toJob('a', 5)];
    lanes.push(due, 1);
    lanes.push(late, 1);
    lanes.remove(late);
    lanes.promote(5);
    expect([lanes.ready(), lanes.next(undefined)]).toEqual([1, due]);
    lanes.remove(toJob('unknown', 1));
    lanes.remove(due);
    lanes.remove(due);
    expect([lanes.ready(), lanes.next(undefined)]).toEqual([0, undefined]);
  });

  it('order jobs by their time, then as they came', () => {
    expect(isEarlier(toJob('', 1, 2), toJob('', 2, 1))).toBe(true);
    expect(isEarlier(toJob('', 2, 1), toJob('', 1, 2))).toBe(false);
    expect(isEarlier(toJob('', 1, 1), toJob('', 1, 2))).toBe(true);
    expect(isEarlier(toJob('', 1, 2), toJob('', 1, 1))).toBe(false);
    expect(isEarlier(toJob('', 1, 1), toJob('', 1, 1))).toBe(false);
  });

  it('serve the owners below their limits in turn', () => {
    const lanes = createLanes<WaitingJob>();
    const jobs = ['a', 'a', 'b', ''].map((owner, at) => toJob(owner, 0, at));
    for (const job of jobs) lanes.push(job, 0);
    const serve = (limit?: Parameters<typeof lanes.next>[0]) => {
      const job = lanes.next(limit);
      if (job !== undefined) lanes.serve(job);
      return job?.owner;
    };
    const limit = { max: 1, held: new Map([['b', 1]]) };
    expect([serve(limit), serve({ max: 1, held: new Map(Object.entries({ a: 1, b: 1 })) })]).toEqual([
      'a',
      '',
    ]);
    expect([serve(), serve(), serve()]).toEqual(['b', 'a', undefined]);
  });
});
