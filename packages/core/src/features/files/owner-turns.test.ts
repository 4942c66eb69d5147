import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createOwnerTurns } from './owner-turns.ts';

/** Runs all pending microtasks and timers. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

function setUp(slots: number) {
  const turns = createOwnerTurns({ slots });
  const started: string[] = [];
  const releases = new Map<string, () => void>();
  const take = (owner: string, name: string, signal?: AbortSignal) =>
    turns.take(owner, { signal }).then((release) => {
      started.push(name);
      releases.set(name, release);
    });
  const end = async (name: string) => {
    releases.get(name)?.();
    await settle();
  };
  return { turns, started, take, end };
}

describe('slots of owners', () => {
  it('keep one slot free for other owners, even when one owner requests more', async () => {
    const { started, take, turns } = setUp(3);
    for (let number = 0; number < 100; number += 1) void take('mallory', `m${number}`);
    await settle();
    expect(started).toEqual(['m0', 'm1']);
    expect(turns.tryTake('mallory')).toBeUndefined();
    void take('bob', 'b0');
    await settle();
    expect(started).toEqual(['m0', 'm1', 'b0']);
  });

  it('rotate among the owners, and serve each in order', async () => {
    const { started, take, end } = setUp(1);
    for (const name of ['a0', 'a1', 'a2', 'b0', 'b1', 'c0']) void take(name.charAt(0), name);
    await settle();
    for (const name of ['a0', 'a1', 'b0', 'c0', 'a2']) await end(name);
    expect(started).toEqual(['a0', 'a1', 'b0', 'c0', 'a2', 'b1']);
  });

  it('pass to the next when a waiting owner aborts, and are released only once', async () => {
    const { started, take, end, turns } = setUp(1);
    const stop = new AbortController();
    void take('a', 'a0');
    const given = take('b', 'b0', stop.signal).catch((error: unknown) => error);
    void take('c', 'c0');
    stop.abort(new Error('enough'));
    expect(await given).toEqual(new Error('enough'));
    await settle();
    await end('a0');
    await end('a0');
    expect(started).toEqual(['a0', 'c0']);
    expect(turns.tryTake('d')).toBeUndefined();
    await end('c0');
    expect(turns.tryTake('d')).toBeTypeOf('function');
  });

  it('are counted for each owner, as they are released', async () => {
    const { turns } = setUp(4);
    const [first] = [1, 2, 3].map(() => turns.tryTake('a'));
    expect(turns.tryTake('a')).toBeUndefined();
    first?.();
    expect(turns.tryTake('a')).toBeTypeOf('function');
    expect(turns.tryTake('a')).toBeUndefined();
    const few = setUp(3).turns;
    const [one] = [1, 2].map(() => few.tryTake('a'));
    one?.();
    expect(few.tryTake('a')).toBeTypeOf('function');
    expect(few.tryTake('a')).toBeUndefined();
  });

  it('wait on when another waiter of the owner aborts', async () => {
    const { started, take, end } = setUp(1);
    const stop = new AbortController();
    void take('a', 'a0');
    const given = take('a', 'a1', stop.signal).catch((error: unknown) => error);
    void take('a', 'a2');
    void take('a', 'a3');
    stop.abort(new Error('enough'));
    await given;
    await end('a0');
    await end('a2');
    expect(started).toEqual(['a0', 'a2', 'a3']);
  });

  it('leave one waiter of an owner when another aborts', async () => {
    const { started, take, end } = setUp(1);
    const stop = new AbortController();
    void take('a', 'a0');
    const given = take('a', 'a1', stop.signal).catch((error: unknown) => error);
    void take('a', 'a2');
    stop.abort(new Error('enough'));
    await given;
    await end('a0');
    expect(started).toEqual(['a0', 'a2']);
  });

  it('leave the signal of a slot that was given', async () => {
    const { take, end } = setUp(1);
    const { signal } = new AbortController();
    void take('a', 'a0');
    void take('b', 'b0', signal);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await settle();
    await end('a0');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('reject at once with an aborted signal', async () => {
    const { take } = setUp(1);
    await expect(take('a', 'a0', AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  });
});
