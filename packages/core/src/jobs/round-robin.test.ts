import { describe, expect, it } from 'vitest';
import { createRoundRobin, getRoom, type TurnJob } from './round-robin.ts';

/** Writes jobs as `<owner><runAt>`, of one kind. */
function toJobs(text: string, kind = 'work'): TurnJob[] {
  return text.split(' ').map((one) => {
    const owner = one.replace(/\d+$/, '');
    return { kind, runAt: Number(one.slice(owner.length)), ...(owner !== '' && { owner }) };
  });
}

const toText = (jobs: readonly TurnJob[]): string =>
  jobs.map(({ owner = '', runAt }) => `${owner}${runAt}`).join(' ');

describe('the order of one kind', () => {
  it.each([
    ['a1 a2 a3 b4 b5 c6', 'a1 b4 c6 a2 b5 a3'],
    ['c1 b2 a3', 'a3 b2 c1'],
    ['a1 2 3 b4', 'a1 b4 2 3'],
    ['a1', 'a1'],
  ])('serves the owners of %s in turn', (jobs, expected) => {
    expect(toText(createRoundRobin().order(toJobs(jobs), undefined))).toBe(expected);
  });

  it.each([
    ['a', 'b2 c3 a1 b5 c6 a4'],
    ['b', 'c3 a1 b2 c6 a4 b5'],
    ['bb', 'c3 a1 b2 c6 a4 b5'],
    ['c', 'a1 b2 c3 a4 b5 c6'],
    ['z', 'a1 b2 c3 a4 b5 c6'],
  ])('begins after the owner %s, who was served last', (owner, expected) => {
    const turns = createRoundRobin();
    turns.served({ kind: 'work', owner, runAt: 0 });
    turns.served({ kind: 'other', owner: 'b', runAt: 0 });
    expect(toText(turns.order(toJobs('a1 b2 c3 a4 b5 c6'), undefined))).toBe(expected);
    expect([turns.lastServed('work'), turns.lastServed('other'), turns.lastServed('new')]).toEqual([
      owner,
      'b',
      '',
    ]);
  });

  it('begins anew after a job without an owner', () => {
    const turns = createRoundRobin();
    turns.served({ kind: 'work', owner: 'b', runAt: 0 });
    turns.served({ kind: 'work', runAt: 0 });
    expect(turns.lastServed('work')).toBe('');
    expect(toText(turns.order(toJobs('a1 b2 3'), undefined))).toBe('a1 b2 3');
  });

  it('omits jobs beyond the limit of an owner', () => {
    const limit = {
      max: 2,
      held: new Map([
        ['b', 1],
        ['c', 2],
        ['d', 3],
      ]),
    };
    const jobs = toJobs('a1 a2 a3 b4 b5 c6 d7 8 9 10');
    const { order } = createRoundRobin();
    expect(toText(order(jobs, { work: limit }))).toBe('a1 b4 8 a2 9 10');
    expect(order(jobs, { other: limit })).toHaveLength(10);
  });
});

it('takes the older one of the first jobs of several kinds', () => {
  const turns = createRoundRobin();
  const first = toJobs('a1 a4 b9', 'first');
  const second = toJobs('a2 a3 a4 a8', 'second');
  const jobs = [...first, ...second];
  const ordered = turns.order(jobs, undefined).map(({ kind, owner, runAt }) => `${kind[0]} ${owner}${runAt}`);
  expect(ordered).toEqual(['f a1', 's a2', 's a3', 's a4', 's a8', 'f b9', 'f a4']);
});

it('takes the kind that comes first where two jobs are equally old', () => {
  const jobs = [...toJobs('a1 a3', 'first'), ...toJobs('a1 a2', 'second')];
  const ordered = createRoundRobin().order(jobs, undefined);
  expect(ordered.map(({ kind, runAt }) => `${kind} ${runAt}`)).toEqual([
    'first 1',
    'second 1',
    'second 2',
    'first 3',
  ]);
});

it('gives an owner the room that is left', () => {
  const limit = {
    max: 3,
    held: new Map([
      ['a', 1],
      ['b', 3],
      ['c', 4],
    ]),
  };
  expect(['a', 'b', 'c', 'd'].map((owner) => getRoom(limit, owner))).toEqual([2, 0, 0, 3]);
  expect(getRoom(limit, '')).toBe(Number.POSITIVE_INFINITY);
  expect(getRoom({ max: 0, held: new Map([['', 1]]) }, '')).toBe(Number.POSITIVE_INFINITY);
  expect(getRoom(undefined, 'a')).toBe(Number.POSITIVE_INFINITY);
});
