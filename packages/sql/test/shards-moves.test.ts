import { createMemoryStore } from '@questline/core/memory';
import { isStorageUnavailable } from '@questline/core/ports';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import {
  createMoveWatch,
  endInTime,
  MOVES_VERSION,
  type MovePhase,
  SHARD_MOVES,
  watchCall,
} from '../src/shards/moves.ts';

function setUp() {
  const clock = createFakeClock();
  const inner = createMemoryStore();
  const moves = inner.collection(SHARD_MOVES);
  const seen = { reads: 0, changes: 0 };
  const failures: Error[] = [];
  const collection = () => ({
    ...moves,
    async find() {
      seen.reads += 1;
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      return moves.find({});
    },
  });
  const onChange = () => {
    seen.changes += 1;
  };
  const watch = createMoveWatch({ store: { ...inner, collection } as never, clock, onChange });
  let version = 0;
  /** Begins a move, or goes on with it. */
  const enter = async (owner: string, phase: MovePhase) => {
    version += 1;
    await moves.insert({ id: MOVES_VERSION, version: 0 });
    await moves.update(MOVES_VERSION, { version });
    if (!(await moves.insert({ id: owner, source: 'a', target: 'b', phase }))) {
      await moves.update(owner, { phase });
    }
  };
  const end = async (owner: string) => {
    version += 1;
    await moves.take(owner);
    await moves.update(MOVES_VERSION, { version });
  };
  return { clock, watch, seen, failures, moves, enter, end };
}

describe('what a process knows about moves', () => {
  it('is read again after two seconds, once for all calls', async () => {
    const { clock, watch, seen } = setUp();
    await Promise.all([watch.refresh(), watch.refresh()]);
    await watch.refresh();
    expect(seen.reads).toBe(1);
    await clock.advance(1999);
    await watch.refresh();
    expect(seen.reads).toBe(1);
    await clock.advance(1);
    await Promise.all([watch.refresh(), watch.refresh()]);
    expect(seen.reads).toBe(2);
  });

  it('may be older while a transaction runs', async () => {
    const { clock, watch, seen } = setUp();
    await watch.refresh();
    const [first, second] = [watch.allowOlder(), watch.allowOlder()];
    await clock.advance(6499);
    await watch.refresh();
    first();
    await watch.refresh();
    expect(seen.reads).toBe(1);
    second();
    await watch.refresh();
    expect(seen.reads).toBe(2);
    const done = watch.allowOlder();
    await clock.advance(6500);
    await watch.refresh();
    expect(seen.reads).toBe(3);
    done();
  });

  it('counts from the beginning of a read, and is read again after the clock went back', async () => {
    const { clock, moves } = setUp();
    let reads = 0;
    let at = 10_000;
    const store = {
      collection: () => ({
        ...moves,
        async find() {
          reads += 1;
          at += 1500;
          return [];
        },
      }),
    };
    const watch = createMoveWatch({
      store: store as never,
      clock: { ...clock, now: () => at },
      onChange: () => undefined,
    });
    await watch.refresh();
    at += 499;
    await watch.refresh();
    expect(reads).toBe(1);
    at += 1;
    await watch.refresh();
    expect(reads).toBe(2);
    at -= 1501;
    await watch.refresh();
    expect(reads).toBe(3);
  });

  it('is unknown after a read that failed, which fails its calls', async () => {
    const { watch, seen, failures } = setUp();
    failures.push(new Error('lost'));
    await expect(watch.refresh()).rejects.toThrow('lost');
    await watch.refresh();
    expect(seen.reads).toBe(2);
  });

  it('closes an owner from the second phase on', async () => {
    const { clock, watch, seen, enter, end } = setUp();
    const look = async () => {
      await clock.advance(2000);
      await watch.refresh();
      return [
        watch.isClosed('o'),
        watch.isAnyClosed,
        watch.involves('a'),
        watch.involves('b'),
        watch.moving.size,
      ];
    };
    expect(await look()).toEqual([false, false, false, false, 0]);
    expect([watch.version, seen.changes]).toEqual([0, 0]);
    await enter('o', 'draining');
    expect(await look()).toEqual([false, false, true, true, 1]);
    expect([watch.version, seen.changes, [...watch.moving]]).toEqual([1, 1, ['o']]);
    await enter('other', 'draining');
    for (const phase of ['closed', 'copying', 'deleting'] as const) {
      await enter('o', phase);
      expect(await look()).toEqual([true, true, true, true, 2]);
      expect(() => watch.assertOpen('o')).toThrow('the owner o moves to another database');
    }
    expect(seen.changes).toBe(4);
    expect(watch.involves('c')).toBe(false);
    await look();
    expect(seen.changes).toBe(4);
    expect(() => watch.assertOpen('other')).not.toThrow();
    expect(() => watch.assertOpen(undefined)).not.toThrow();
    for (const owner of ['o', 'other']) await end(owner);
    expect(await look()).toEqual([false, false, false, false, 0]);
    expect(watch.version).toBe(7);
  });
});

describe('a call while owners may move', () => {
  const during = async (
    ms: number,
    change: (tools: ReturnType<typeof setUp>) => Promise<unknown>,
    run: typeof watchCall = watchCall,
  ) => {
    const tools = setUp();
    const { clock, watch, seen } = tools;
    const ended = await run(watch, async () => {
      await change(tools);
      await clock.advance(ms);
      return 'done';
    }).catch((error: unknown) => error);
    return { ended, reads: seen.reads };
  };

  it('is confirmed if it was short', async () => {
    expect(await during(4500, ({ enter }) => enter('o', 'closed'))).toEqual({ ended: 'done', reads: 1 });
    expect(await during(4500, ({ enter }) => enter('o', 'closed'), endInTime)).toEqual({
      ...{ ended: 'done', reads: 0 },
    });
  });

  it('is confirmed if it was long and no owner has moved', async () => {
    expect(await during(4501, async () => undefined)).toEqual({ ended: 'done', reads: 2 });
  });

  it.each(['draining', 'closed'] as const)(
    'is not confirmed if a move began meanwhile: %s',
    async (phase) => {
      const { ended } = await during(4501, ({ enter }) => enter('o', phase));
      expect(ended).toMatchObject({ message: 'an owner has moved during the call' });
      expect(isStorageUnavailable(ended)).toBe(true);
    },
  );

  it('is not confirmed if it was long and an owner moves', async () => {
    const { clock, watch, enter, moves } = setUp();
    await enter('o', 'draining');
    await watch.refresh();
    const ended = endInTime(watch, async () => {
      await moves.update('o', { phase: 'closed' });
      await clock.advance(4501);
    });
    await expect(ended).rejects.toSatisfy(isStorageUnavailable);
  });

  it('is not made if the moves cannot be read', async () => {
    const { watch, failures } = setUp();
    failures.push(new Error('lost'));
    let calls = 0;
    const failed = watchCall(watch, async () => {
      calls += 1;
    });
    await expect(failed).rejects.toThrow('lost');
    expect(calls).toBe(0);
  });

  it('fails with its own error', async () => {
    const { watch, clock } = setUp();
    const failed = watchCall(watch, async () => {
      await clock.advance(9000);
      throw new Error('own');
    });
    await expect(failed).rejects.toThrow('own');
  });
});
