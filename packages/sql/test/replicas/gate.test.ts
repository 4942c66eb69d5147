import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createReplicaGate, type ReplicaState } from '../../src/postgres/replica-gate.ts';

/** A primary and a replica whose positions are numbers. */
function createServers() {
  const servers = { primary: 1, replica: 1, failure: undefined as Error | undefined };
  const calls = { position: 0, replayed: 0 };
  const states: (readonly [ReplicaState, unknown?])[] = [];
  const gate = createReplicaGate({
    async getPosition() {
      calls.position += 1;
      const { primary, failure } = servers;
      await Promise.resolve();
      if (failure !== undefined) throw failure;
      return String(primary);
    },
    async hasReplayed(position) {
      calls.replayed += 1;
      await Promise.resolve();
      return servers.replica >= Number(position);
    },
    onState: (...state) => states.push(state),
  });
  return { servers, calls, states, gate };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a read with a replica', () => {
  it('passes once the replica has every commit of before', async () => {
    const { servers, states, gate } = createServers();
    expect(gate.isOpen()).toBe(true);
    expect(await gate.pass()).toBe(true);
    expect(gate.isOpen()).toBe(true);
    servers.primary = 2;
    const passed = gate.pass();
    await vi.advanceTimersByTimeAsync(5);
    servers.replica = 2;
    await vi.advanceTimersByTimeAsync(10);
    expect(await passed).toBe(true);
    expect(states).toEqual([['used', undefined]]);
  });

  it('does not pass while the replica is behind, and looks again half a second later', async () => {
    const { servers, calls, states, gate } = createServers();
    servers.primary = 2;
    const passed = gate.pass();
    await vi.advanceTimersByTimeAsync(30);
    expect(await passed).toBe(false);
    expect(gate.isOpen()).toBe(false);
    expect(calls.position).toBe(1);
    expect(calls.replayed).toBeGreaterThan(2);

    servers.replica = 2;
    await vi.advanceTimersByTimeAsync(499);
    expect(gate.isOpen()).toBe(true);
    expect(await gate.pass()).toBe(true);
    expect(states.map(([state]) => state)).toEqual(['behind', 'used']);
  });

  it('waits 20 ms at most', async () => {
    const { servers, gate } = createServers();
    servers.primary = 2;
    let passed: boolean | undefined;
    void gate.pass().then((value) => {
      passed = value;
    });
    await vi.advanceTimersByTimeAsync(18);
    expect(passed).toBeUndefined();
    await vi.advanceTimersByTimeAsync(3);
    expect(passed).toBe(false);
  });

  it('looks at a failed replica again after five seconds', async () => {
    const { servers, states, gate } = createServers();
    const error = new Error('gone');
    servers.failure = error;
    expect(await gate.pass()).toBe(false);
    await vi.advanceTimersByTimeAsync(4999);
    expect(gate.isOpen()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(gate.isOpen()).toBe(true);
    expect(await gate.pass()).toBe(false);
    servers.failure = undefined;
    await vi.advanceTimersByTimeAsync(5000);
    expect(await gate.pass()).toBe(true);
    expect(states).toEqual([
      ['failed', error],
      ['used', undefined],
    ]);
  });

  it('leaves a replica whose statement failed', async () => {
    const { states, gate } = createServers();
    const error = new Error('no permission');
    expect(await gate.pass()).toBe(true);
    gate.fail(error);
    expect(gate.isOpen()).toBe(false);
    expect(states).toEqual([
      ['used', undefined],
      ['failed', error],
    ]);
  });

  it('shares one look with all reads that wait for it', async () => {
    const { calls, gate } = createServers();
    expect(await Promise.all(Array.from({ length: 100 }, () => gate.pass()))).not.toContain(false);
    expect(calls).toEqual({ position: 1, replayed: 1 });
  });

  it('waits for the look that runs, with all reads that come meanwhile', async () => {
    const positions: ((position: string) => void)[] = [];
    const gate = createReplicaGate({
      getPosition: () => new Promise((resolve) => positions.push(resolve)),
      hasReplayed: async () => true,
      onState: () => undefined,
    });
    const passed = [gate.pass()];
    await vi.advanceTimersByTimeAsync(0);
    passed.push(gate.pass());
    await vi.advanceTimersByTimeAsync(0);
    passed.push(gate.pass());
    await vi.advanceTimersByTimeAsync(0);
    expect(positions).toHaveLength(1);
    positions[0]?.('1');
    await vi.advanceTimersByTimeAsync(0);
    expect(positions).toHaveLength(2);
    positions[1]?.('1');
    expect(await Promise.all(passed)).toEqual([true, true, true]);
  });

  it('does not share a look that began before the read', async () => {
    const { servers, calls, gate } = createServers();
    const first = gate.pass();
    // The first look has read its position.
    await Promise.resolve();
    expect(calls.position).toBe(1);
    servers.primary = 2;
    const second = gate.pass();
    expect(await first).toBe(true);
    await vi.advanceTimersByTimeAsync(30);
    expect(await second).toBe(false);
    expect(calls.position).toBe(2);
  });
});
