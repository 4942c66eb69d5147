import { isStorageUnavailable, StorageUnavailable } from '@questline/core/ports';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunOptions } from '../../src/database.ts';
import { createNames } from '../../src/names.ts';
import type { ReplicaState } from '../../src/postgres/replica-gate.ts';
import { createReplicaReads } from '../../src/postgres/replicas.ts';
import type { SqlRow, SqlStatement } from '../../src/statement.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const READ = { sql: 'select name from notes', parameters: [] };

/** A server whose statements are answered by what they ask for. */
function createServer(name: string) {
  const server = {
    place: 'one schema',
    position: '0/1' as string | undefined,
    follows: true as boolean | undefined,
    reached: true,
    /** What a read does; otherwise it answers with the name. */
    answer: async (): Promise<readonly SqlRow[]> => [{ name }],
    placeFails: false,
  };
  const looks: (readonly [string, unknown, unknown])[] = [];
  const reads: (RunOptions | undefined)[] = [];
  const run = async ({ sql, parameters }: SqlStatement, options?: RunOptions): Promise<readonly SqlRow[]> => {
    const look = /pg_control_system|flush_lsn|is_in_recovery/.exec(sql)?.[0];
    if (look === undefined) {
      reads.push(options);
      return server.answer();
    }
    looks.push([look, options?.timeoutMs, parameters]);
    if (look === 'flush_lsn') return server.position === undefined ? [] : [{ position: server.position }];
    if (look === 'is_in_recovery') return [{ follows: server.follows, reached: server.reached }];
    if (server.placeFails) throw new Error('no place');
    return [{ place: server.place }];
  };
  return { server, looks, reads, run };
}

function setUp(replicas = 1, schema?: string) {
  const primary = createServer('primary');
  const others = Array.from({ length: replicas }, (_, at) => createServer(`replica ${at}`));
  const states: (readonly [ReplicaState, unknown?])[] = [];
  const read = createReplicaReads(
    { run: primary.run, timeoutMs: 4000, names: createNames({ ...(schema !== undefined && { schema }) }) },
    others.map(({ run }) => ({ run, onState: (...state) => states.push(state) })),
  );
  const ask = async (options?: RunOptions) => {
    const [row] = await read(READ, options);
    return row?.name;
  };
  const [replica] = others;
  if (replica === undefined) throw new Error('at least one replica');
  return { primary, replica, others, states, read, ask };
}

describe('a read', () => {
  it('goes to the replica that has every commit, after one look at the place of both', async () => {
    const { primary, replica, states, ask } = setUp(1, 'mine');
    expect([await ask(), await ask()]).toEqual(['replica 0', 'replica 0']);
    expect(primary.looks).toEqual([
      ['pg_control_system', 500, ['mine']],
      ['flush_lsn', 500, []],
      ['flush_lsn', 500, []],
    ]);
    expect(replica.looks).toEqual([
      ['pg_control_system', 500, ['mine']],
      ['is_in_recovery', 500, ['0/1']],
      ['is_in_recovery', 500, ['0/1']],
    ]);
    expect(primary.reads).toEqual([]);
    expect(states).toEqual([['used', undefined]]);
  });

  it('goes to the replicas in turn', async () => {
    const { ask } = setUp(3);
    const names = [await ask(), await ask(), await ask(), await ask()];
    expect(names).toEqual(['replica 1', 'replica 2', 'replica 0', 'replica 1']);
  });

  it('goes to the primary without a replica, with its whole time', async () => {
    const primary = createServer('primary');
    const read = createReplicaReads({ run: primary.run, timeoutMs: 4000, names: createNames({}) }, []);
    const { signal } = new AbortController();
    expect(await read(READ, { signal })).toEqual([{ name: 'primary' }]);
    expect(primary.reads).toEqual([{ signal, timeoutMs: 4000 }]);
    expect(primary.looks).toEqual([]);
  });

  it('has half of its time on a replica, and what is left on the primary', async () => {
    const { primary, replica, states, ask } = setUp();
    const { signal } = new AbortController();
    const lost = new StorageUnavailable('lost');
    replica.server.answer = async () => {
      vi.advanceTimersByTime(300);
      throw lost;
    };
    expect(await ask({ timeoutMs: 1000, signal })).toBe('primary');
    expect(replica.reads).toEqual([{ timeoutMs: 500, signal }]);
    expect(primary.reads).toEqual([{ timeoutMs: 700, signal }]);
    expect(states).toEqual([
      ['used', undefined],
      ['failed', lost],
    ]);
    expect(await ask()).toBe('primary');
    expect(replica.reads).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(5000);
    replica.server.answer = async () => [{ name: 'again' }];
    expect(await ask()).toBe('again');
    expect(replica.reads.at(-1)).toEqual({ timeoutMs: 2000 });
  });

  it('closes a lost replica before the primary answers', async () => {
    const { primary, replica, states, ask } = setUp();
    replica.server.answer = () => Promise.reject(new StorageUnavailable('lost'));
    const before: (readonly ReplicaState[])[] = [];
    primary.server.answer = async () => {
      before.push(states.map(([state]) => state));
      throw new StorageUnavailable('lost, too');
    };
    await expect(ask()).rejects.toSatisfy(isStorageUnavailable);
    expect(before).toEqual([['used', 'failed']]);
  });

  it('closes a replica on which only it fails', async () => {
    const { replica, states, ask } = setUp();
    const refused = new Error('permission denied');
    replica.server.answer = () => Promise.reject(refused);
    expect(await ask()).toBe('primary');
    expect(states.at(-1)).toEqual(['failed', refused]);
  });

  it('that is wrong everywhere closes no replica', async () => {
    const { primary, replica, states, ask } = setUp();
    const wrong = new Error('syntax');
    for (const one of [primary, replica]) one.server.answer = () => Promise.reject(wrong);
    await expect(ask()).rejects.toBe(wrong);
    expect(states.map(([state]) => state)).toEqual(['used']);
  });

  it('of a caller that has left closes no replica and asks no other server', async () => {
    const { primary, replica, states, ask } = setUp();
    const leaving = new AbortController();
    replica.server.answer = async () => {
      leaving.abort('left');
      throw new Error('aborted');
    };
    await expect(ask({ signal: leaving.signal })).rejects.toThrow('aborted');
    expect([states.length, primary.reads]).toEqual([1, []]);
  });

  it('goes to the primary when it is not known how far that is', async () => {
    const { primary, replica, ask } = setUp();
    primary.server.position = undefined;
    replica.server.reached = false;
    const asked = ask();
    await vi.advanceTimersByTimeAsync(30);
    expect(await asked).toBe('primary');
    expect(replica.looks.at(-1)).toEqual(['is_in_recovery', 500, ['undefined']]);
  });

  it.each([false, undefined])(
    'goes to the primary when the other one does not follow: %s',
    async (follows) => {
      const { replica, states, ask } = setUp();
      replica.server.follows = follows;
      expect(await ask()).toBe('primary');
      expect(states).toEqual([['failed', new Error('the server does not follow another one')]]);
    },
  );

  it('goes to the primary when the other one has other tables, and looks at them again', async () => {
    const { primary, replica, states, ask } = setUp();
    replica.server.place = 'another schema';
    expect(await ask()).toBe('primary');
    expect(states).toEqual([['failed', new Error('the server has another database or schema')]]);
    replica.server.place = 'one schema';
    await vi.advanceTimersByTimeAsync(5000);
    expect(await ask()).toBe('replica 0');
    expect(primary.looks.filter(([look]) => look === 'pg_control_system')).toHaveLength(2);
  });

  it('is answered although its observer throws, or there is none', async () => {
    const [primary, replica] = [createServer('primary'), createServer('replica')];
    const fail = () => {
      throw new Error('the observer');
    };
    const open = { run: primary.run, timeoutMs: 4000, names: createNames({}) };
    for (const observer of [{ onState: fail }, {}]) {
      const read = createReplicaReads(open, [{ run: replica.run, ...observer }]);
      expect(await read(READ)).toEqual([{ name: 'replica' }]);
    }
  });
});
