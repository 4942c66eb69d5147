import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import type { RemovalCheck, RetentionKind } from '../operations/retention.ts';
import type { Store } from '../ports/store.ts';
import { QUESTS, type QuestRecord } from '../runs/records.ts';
import { createRemover } from './retention-remover.ts';

const toId = (number: number): string => number.toString(16).padStart(24, '0');
const [A, B, C] = [toId(10), toId(11), toId(12)] as const;
const MINUTE_MS = 60_000;

function setUp(kind: RetentionKind = 'files') {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const incidents: object[] = [];
  const onError = (incident: object): void => void incidents.push(incident);
  const remover = createRemover({ store, clock, onError }, kind);
  /** A turn that names a file and has changed at a moment. */
  const addTurn = async (file: string, changedAt: number, where: Store = store) => {
    const number = await where.collection(QUESTS).count({});
    await where.collection(QUESTS).insert({
      ...{ id: toId(100 + number), ownerId: 'ada', sessionId: toId(1), kind: 'chat', status: 'running' },
      ...{ request: { fileIds: [file] }, liveSince: changedAt, updatedAt: changedAt, createdAt: changedAt },
    } as unknown as QuestRecord);
  };
  return { clock, store, incidents, remover, addTurn };
}

describe('remover of records', () => {
  it('deletes and counts those that no turn uses', async () => {
    const { remover, addTurn, clock } = setUp();
    await addTurn(B, clock.now() - 10 * MINUTE_MS);
    const asked: [string, number][] = [];
    const removed = await remover.removeEach([A, B, C], 7, async (id, { before }) => {
      asked.push([id, before]);
      return id !== C;
    });
    expect([asked, removed]).toEqual([
      [
        [A, 7],
        [C, 7],
      ],
      1,
    ]);
    expect([await remover.count([A, B, C]), await remover.count([B]), await remover.count([])]).toEqual([
      2, 0, 0,
    ]);
  });

  it('uses the store for no question without records', async () => {
    const failing = { collection: () => expect.unreachable() } as unknown as Store;
    const remover = createRemover(
      { store: failing, clock: createFakeClock(), onError: () => undefined },
      'files',
    );
    expect(await remover.count([])).toBe(0);
  });

  it('finds a use that began after the look, or within the difference between clocks', async () => {
    const { remover, addTurn, clock } = setUp();
    const used: boolean[] = [];
    await remover.removeEach([A, B], 7, async (id, { isInUse }) => {
      const inner = createMemoryStore();
      used.push(await isInUse(inner));
      await addTurn(id, clock.now() - MINUTE_MS, inner);
      used.push(await isInUse(inner));
      return true;
    });
    expect(used).toEqual([false, true, false, true]);
  });

  it('does not look at older uses again', async () => {
    const { remover, addTurn, clock } = setUp();
    const used: boolean[] = [];
    await remover.removeEach([A], 7, async (id, { isInUse }) => {
      const inner = createMemoryStore();
      await addTurn(id, clock.now() - MINUTE_MS - 1, inner);
      await addTurn(B, clock.now(), inner);
      used.push(await isInUse(inner));
      return true;
    });
    expect(used).toEqual([false]);
  });

  it('reports a record that fails, and goes on with the next one', async () => {
    const { remover, incidents } = setUp();
    const error = new Error('no file');
    const remove = async (id: string, _check: RemovalCheck) => {
      if (id === A) throw error;
      return true;
    };
    expect(await remover.removeEach([A, B], 7, remove)).toBe(1);
    expect(incidents).toEqual([{ operation: 'retention', requestId: '', error }]);
  });

  it('deletes kinds of which no feature uses records', async () => {
    const { remover, addTurn, clock } = setUp('deliveries');
    await addTurn(A, clock.now());
    expect(
      await remover.removeEach([A], 7, async (_id, { isInUse }) => !(await isInUse(createMemoryStore()))),
    ).toBe(1);
  });
});
