import {
  type EngineWrite,
  followed,
  type JobQueue,
  type LeasedJob,
  type LeaseWanted,
  type NewJob,
} from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { SHARD_MOVES } from '../src/shards/moves.ts';
import { LETTERS, letter, openShards } from './shards-memory.ts';

const [QUEST, SESSION, FILE] = ['1', '2', '3'].map((digit) => digit.repeat(24)) as [string, string, string];

function setUp(change: (queue: JobQueue, name: string) => Partial<JobQueue> = () => ({})) {
  const asked: (readonly [string, LeaseWanted])[] = [];
  const open = openShards({}, ({ queue }, name) => {
    const changed = { ...queue, ...change(queue, name) };
    return {
      queue: {
        ...changed,
        lease(want, options) {
          asked.push([name, want]);
          if (asked.length > 500) throw new Error('asked too often');
          return changed.lease(want, options);
        },
      },
    };
  });
  const { queue } = open.ports;
  let last = 0;
  const enqueue = (owner?: string, more: Partial<NewJob> = {}) => {
    last += 1;
    return queue.enqueue({
      ...{ kind: 'work', payload: {}, key: `k${last}` },
      ...(owner !== undefined && { owner }),
      ...more,
    });
  };
  const lease = (limit: number, more: Partial<LeaseWanted> = {}) =>
    queue.lease({ kinds: ['work'], limit, leaseMs: 60_000, ...more });
  return { ...open, queue, enqueue, lease, asked };
}

const toOwners = (jobs: readonly LeasedJob[]) => jobs.map(({ owner }) => owner ?? 'none');

describe('a queue over several databases', () => {
  it('has a job in the database of its owner, or at home', async () => {
    const { queue, enqueue, lease, nodes } = setUp();
    const counts = async () =>
      Promise.all([nodes.a, nodes.b, nodes.home].map(async (one) => (await one.queue.counts()).ready));
    const added = [await enqueue('a1'), await enqueue('b1'), await enqueue('someone'), await enqueue()];
    expect(await counts()).toEqual([1, 1, 2]);
    expect(added.map(({ id, added: isNew }) => [id.split('@')[1], isNew])).toEqual([
      ['a', true],
      ['b', true],
      ['home', true],
      ['home', true],
    ]);
    expect(await queue.enqueue({ kind: 'work', payload: {}, key: 'k1', owner: 'a1' })).toEqual({
      ...{ id: added[0]?.id, added: false },
    });
    const jobs = await lease(10);
    expect(toOwners(jobs).toSorted()).toEqual(['a1', 'b1', 'none', 'someone']);
    expect(jobs.filter((job) => 'owner' in job)).toHaveLength(3);
    expect(jobs.map(({ id }) => id).toSorted()).toEqual(added.map(({ id }) => id).toSorted());
  });

  it('renews, finishes and retries a job where it is', async () => {
    const { queue, enqueue, lease, clock } = setUp();
    for (const owner of ['b1', undefined]) await enqueue(owner);
    for (const job of await lease(2)) {
      expect(await queue.renew(job, 90_000)).toBe(true);
      expect(await queue.retry(job, { runAt: clock.now(), countAttempt: true })).toBe(true);
    }
    const again = await lease(2);
    expect(again.map(({ attempt }) => attempt)).toEqual([2, 2]);
    for (const job of again) {
      expect(await queue.finish({ ...job, fence: 99 })).toBe(false);
      expect(await queue.finish(job)).toBe(true);
    }
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
  });

  it('passes on to a database the job as that knows it', async () => {
    const seen: unknown[] = [];
    const note = async (job: LeasedJob) => {
      seen.push(job);
      return true;
    };
    const { queue } = setUp(() => ({ renew: note, finish: note, retry: note }));
    const job = { kind: 'work', payload: {}, key: 'k', attempt: 1, fence: 1, leaseUntil: 5 };
    await queue.renew({ ...job, id: 'j@b', owner: 'b1' }, 5);
    await queue.finish({ ...job, id: 'j@home' });
    await queue.retry({ ...job, id: 'j@a', owner: 'a1' }, { runAt: 1, countAttempt: false });
    expect(seen).toEqual([
      { ...job, id: 'j', owner: 'b1' },
      { ...job, id: 'j', owner: 'shards:no-owner' },
      { ...job, id: 'j', owner: 'a1' },
    ]);
  });

  it('counts and finds the jobs of all databases', async () => {
    const findKeys: JobQueue['findKeys'] = async (keys) => keys.filter((key) => key !== 'none');
    const { queue, enqueue, lease, clock } = setUp(() => ({ findKeys }));
    for (const owner of ['a1', 'b1', 'b2', undefined]) await enqueue(owner);
    for (const owner of ['a1', 'b1']) await enqueue(owner, { runAt: clock.now() + 1000 });
    await lease(1);
    expect(await queue.counts()).toEqual({ ready: 3, delayed: 2, leased: 1 });
    expect(await queue.findKeys?.(['k1', 'none', 'k2'])).toEqual(['k1', 'k2']);
    const partly = setUp((_, name) => ({ findKeys: name === 'a' ? (undefined as never) : findKeys }));
    expect(partly.queue.findKeys).toBeUndefined();
  });

  it('says that jobs are ready in any database, until it is stopped', async () => {
    const { queue, enqueue } = setUp();
    let calls = 0;
    const stop = queue.onReady(() => {
      calls += 1;
    });
    for (const owner of ['a1', 'b1', undefined]) await enqueue(owner);
    expect(calls).toBe(3);
    stop();
    for (const owner of ['a1', 'b1', undefined]) await enqueue(owner);
    expect(calls).toBe(3);
  });
});

describe('the jobs that a worker leases', () => {
  it('come from all databases, beginning with another one each time', async () => {
    const { lease, enqueue, asked } = setUp();
    for (const owner of ['a1', 'b1', undefined]) for (let at = 0; at < 2; at += 1) await enqueue(owner);
    const first = await lease(1);
    expect([asked.splice(0).map(([name]) => name), toOwners(first)]).toEqual([['a'], ['a1']]);
    const second = await lease(1);
    expect([asked.splice(0).map(([name]) => name), toOwners(second)]).toEqual([['b'], ['b1']]);
    const third = await lease(1);
    expect([asked.splice(0).map(([name]) => name), toOwners(third)]).toEqual([['home'], ['none']]);
    expect(toOwners(await lease(3)).toSorted()).toEqual(['a1', 'b1', 'none']);
  });

  it('are shared by their owners, wherever these are', async () => {
    const { lease, enqueue } = setUp();
    for (let at = 0; at < 9; at += 1) for (const owner of ['a1', 'a2', 'b1']) await enqueue(owner);
    const owners = toOwners(await lease(12));
    const count = (owner: string) => owners.filter((one) => one === owner).length;
    expect(['a1', 'a2', 'b1'].map(count)).toEqual([4, 4, 4]);
    const next = toOwners(await lease(15));
    expect(next).toHaveLength(15);
  });

  it('are all of one owner if no other waits', async () => {
    const { lease, enqueue, asked } = setUp();
    for (let at = 0; at < 20; at += 1) await enqueue('a1');
    expect(await lease(16)).toHaveLength(16);
    expect(asked.length).toBeLessThan(15);
    expect(await lease(16)).toHaveLength(4);
    expect(await lease(16)).toEqual([]);
  });

  it('keep to the limits of their kinds and owners', async () => {
    const { lease, enqueue } = setUp();
    for (const owner of ['a1', 'b1', undefined]) {
      for (let at = 0; at < 5; at += 1) {
        await enqueue(owner);
        await enqueue(owner, { kind: 'rare' });
      }
    }
    const jobs = await lease(12, {
      kinds: ['work', 'rare'],
      limitByKind: { rare: 2 },
      perOwner: { work: { max: 3, held: new Map([['a1', 2]]) } },
    });
    const count = (kind: string, owner?: string) =>
      jobs.filter((job) => job.kind === kind && (owner === undefined || (job.owner ?? 'none') === owner))
        .length;
    expect(count('rare')).toBe(2);
    // Those without an owner have no limit.
    expect([count('work', 'a1'), count('work', 'b1'), count('work', 'none')]).toEqual([1, 3, 5]);
    const none = await lease(5, { limitByKind: { work: 0 } });
    expect(none).toEqual([]);
    const full = await lease(5, {
      perOwner: {
        work: {
          max: 1,
          held: new Map([
            ['a1', 1],
            ['b1', 4],
          ]),
        },
      },
    });
    expect(full).toEqual([]);
    await enqueue('b2');
    const held = new Map([['b1', 1]]);
    const rest = await lease(9, { perOwner: { work: { max: 2, held } } });
    expect(toOwners(rest).toSorted()).toEqual(['a1', 'a1', 'b1', 'b2']);
  });

  it('are none of an owner that moves', async () => {
    const { lease, enqueue, nodes, clock } = setUp();
    for (const owner of ['a1', 'a2', 'b1']) await enqueue(owner);
    await nodes.home.plain
      .collection(SHARD_MOVES)
      .insert({ id: 'a1', source: 'a', target: 'b', phase: 'draining' });
    await clock.advance(2000);
    expect(toOwners(await lease(5)).toSorted()).toEqual(['a2', 'b1']);
    await nodes.home.plain.collection(SHARD_MOVES).take('a1');
    await clock.advance(2000);
    expect(toOwners(await lease(5))).toEqual(['a1']);
  });

  it('come from the databases that answer', async () => {
    const lost = new Error('lost');
    let isLost = true;
    const { lease, enqueue } = setUp((queue, name) =>
      name === 'b' ? { lease: (...args) => (isLost ? Promise.reject(lost) : queue.lease(...args)) } : {},
    );
    for (const owner of ['a1', 'b1', undefined]) for (let at = 0; at < 3; at += 1) await enqueue(owner);
    expect(toOwners(await lease(9)).toSorted()).toEqual(['a1', 'a1', 'a1', 'none', 'none', 'none']);
    await expect(lease(9)).rejects.toBe(lost);
    isLost = false;
    expect(toOwners(await lease(9))).toEqual(['b1', 'b1', 'b1']);
  });

  it('fail if no database answers', async () => {
    const lost = new Error('lost');
    const { lease } = setUp(() => ({ lease: () => Promise.reject(lost) }));
    await expect(lease(3)).rejects.toBe(lost);
  });

  it('show where the records are most likely that they name', async () => {
    const { lease, enqueue, store, calls } = setUp();
    const names = ['quests', 'sessions', 'files'] as const;
    const records = names.map((name) =>
      store.collection({ ...LETTERS, name, columns: {} } as unknown as typeof LETTERS),
    );
    const payload = { quest: QUEST, session: SESSION, file: FILE, text: 'b'.repeat(23), count: 5 };
    await enqueue('b1', { payload });
    await enqueue('b1', { payload: null });
    await enqueue('b1', { payload: 'text' });
    expect(await lease(3)).toHaveLength(3);
    calls.splice(0);
    for (const [at, id] of [QUEST, SESSION, FILE].entries()) await records[at]?.get(id);
    const first = calls.filter((_, at) => at % 3 === 0);
    expect(first).toEqual(['b get quests', 'b get sessions', 'b get files']);
  });

  it('do not change where a record was seen', async () => {
    const { lease, enqueue, store, calls, nodes } = setUp();
    const files = { ...LETTERS, name: 'files', columns: {} } as unknown as typeof LETTERS;
    const letters = store.collection(files);
    await nodes.a.plain.collection(files).insert(letter(FILE, 'a1'));
    await letters.get(FILE);
    await enqueue('b1', { payload: { file: FILE } });
    await lease(1);
    calls.splice(0);
    await letters.get(FILE);
    expect(calls).toEqual(['a get files']);
  });
});

describe('the writes of jobs over several databases', () => {
  const writes = (name: string): JobQueue['writes'] => {
    const toWrite = (what: string) => (job: NewJob | LeasedJob) =>
      ({
        do: 'engine',
        engine: name,
        work: { what, job },
        applied: () => undefined,
      }) as unknown as EngineWrite;
    return { enqueue: toWrite('enqueue'), finish: toWrite('finish') };
  };

  it('are made in the database of the job', async () => {
    const made: unknown[] = [];
    const open = openShards({}, ({ queue, store }, name) => ({
      queue: { ...queue, writes: writes(name) as never },
      store: {
        ...store,
        async writeAll(all) {
          made.push([name, ...all.map((one) => (one.do === 'engine' ? one.work : one.do))]);
          for (const one of all) if (one.do === 'engine') one.applied();
          return true;
        },
      },
    }));
    const { queue, store } = open.ports;
    const job = { kind: 'work', payload: {}, key: 'k' };
    const leased = { ...job, attempt: 1, fence: 1, leaseUntil: 5 };
    const { writes: own } = queue;
    if (own === undefined) throw new Error('every database has writes');
    for (const write of [
      own.enqueue({ ...job, owner: 'b1' }),
      own.enqueue({ ...job, owner: 'someone' }),
      own.enqueue(job),
      own.finish({ ...leased, id: 'j@a', owner: 'a1' }),
      own.finish({ ...leased, id: 'j@home' }),
    ]) {
      expect(await store.writeAll?.([write])).toBe(true);
    }
    let applied = 0;
    const last = followed(own.enqueue({ ...job, owner: 'b1' }), () => {
      applied += 1;
    });
    expect([await store.writeAll?.([last]), applied, made.pop()]).toMatchObject([true, 1, ['b', {}]]);
    const noOwner = 'shards:no-owner';
    expect(made).toEqual([
      ['b', { what: 'enqueue', job: { ...job, owner: 'b1' } }],
      ['home', { what: 'enqueue', job: { ...job, owner: 'someone' } }],
      ['home', { what: 'enqueue', job: { ...job, owner: noOwner } }],
      ['a', { what: 'finish', job: { ...leased, id: 'j', owner: 'a1' } }],
      ['home', { what: 'finish', job: { ...leased, id: 'j', owner: noOwner } }],
    ]);
    expect(
      await store.writeAll?.([own.enqueue({ ...job, owner: 'b1' }), own.enqueue({ ...job, owner: 'a1' })]),
    ).toBe(false);
  });

  it('are there only if every database has them', () => {
    const { queue } = openShards({}, (ports, name) => ({
      queue: { ...ports.queue, ...(name !== 'b' && { writes: writes(name) as never }) },
    })).ports;
    expect(queue.writes).toBeUndefined();
  });
});
