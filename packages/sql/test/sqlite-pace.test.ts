import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watch } from '../../../test/support/watch.ts';
import { createSqliteDatabase } from '../src/index.ts';
import { createPace } from '../src/sqlite/pace.ts';
import { ScriptedSqlite } from './scripted-sqlite.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('statements of one turn of the event loop', () => {
  it('run for 5 ms; the next one waits for another turn', async () => {
    const next = createPace();
    expect(next()).toBeUndefined();
    vi.advanceTimersByTime(4);
    expect(next()).toBeUndefined();
    vi.advanceTimersByTime(1);
    const waiting = next();
    expect(waiting).toBeInstanceOf(Promise);
    await waiting;
    expect(next()).toBeUndefined();
  });

  it('have 5 ms in every turn', async () => {
    const next = createPace();
    for (let at = 0; at < 5; at += 1) {
      expect(next()).toBeUndefined();
      vi.advanceTimersByTime(4);
      await turn();
    }
  });

  it('wait for a turn that others do not use up', async () => {
    const next = createPace();
    void next();
    vi.advanceTimersByTime(5);
    const useUp = () => {
      void next();
      vi.advanceTimersByTime(5);
    };
    setImmediate(useUp);
    const ended = watch(next() ?? Promise.reject(new Error('waits')));
    await turn();
    await Promise.resolve();
    expect(ended).toEqual([]);
    await turn();
    await turn();
    expect(ended).toEqual([undefined]);
  });
});

describe('a call after 5 ms of statements', () => {
  const ONE = { sql: 'select 1', parameters: [] };

  it.each(['run', 'immediate', 'transaction'] as const)('runs in another turn: %s', async (verb) => {
    const engine = new ScriptedSqlite();
    engine.fail = () => {
      vi.advanceTimersByTime(5);
      return undefined;
    };
    const database = createSqliteDatabase({ database: engine.database });
    await database.run(ONE);
    const atTurn: number[] = [];
    setImmediate(() => atTurn.push(engine.texts.filter((text) => text === ONE.sql).length));
    const calls = {
      run: () => database.run(ONE),
      immediate: () => database.immediate((run) => run(ONE)),
      transaction: () => database.transaction(({ run }) => run(ONE)),
    };
    await calls[verb]();
    expect(atTurn).toEqual([1]);
    expect(engine.texts.filter((text) => text === ONE.sql)).toHaveLength(2);
  });
});
