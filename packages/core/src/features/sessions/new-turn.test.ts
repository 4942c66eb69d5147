import { describe, expect, it } from 'vitest';
import { withLateWrites } from '../../../test/late-store.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { Store } from '../../ports/store.ts';
import { writeAll } from '../../ports/write-all.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import { STORAGE_USAGE } from '../storage/usage.ts';
import { storeTurn, turnWrites } from './new-turn.ts';
import { SESSIONS, type SessionRecord } from './records.ts';

const QUEST = { id: 'q', ownerId: 'grace', sessionId: 's' } as unknown as QuestRecord;
const SESSION = { id: 's', ownerId: 'ada', name: 'n' } as unknown as SessionRecord;
const QUOTAS = { artifacts: 0, sessions: 1000, lakes: 0 };

function setUp() {
  const memory = createMemoryStore();
  let transactions = 0;
  const late = withLateWrites(memory);
  const store: Store = {
    ...late,
    transaction(work, options) {
      transactions += 1;
      return late.transaction(work, options);
    },
  };
  return {
    store,
    use: (bytes: number) => memory.collection(STORAGE_USAGE).insert({ id: 'ada:sessions', bytes }),
    add: async (kind: 'quest' | 'session') => {
      if (kind === 'quest') await memory.collection(QUESTS).insert(QUEST);
      else await memory.collection(SESSIONS).insert(SESSION);
    },
    stored: async () => [
      await memory.collection(SESSIONS).count({}),
      await memory.collection(QUESTS).count({}),
    ],
    transactions: () => transactions,
  };
}

const BUSY = { status: 409, message: expect.stringContaining('still being written') };
const FULL = { status: 422, code: 'limit_exceeded' };

describe('turn that is stored', () => {
  it.each([
    ['with its new session, in one step', true, [1, 1], 1],
    ['in a session that exists', false, [0, 1], 0],
  ])('is stored %s', async (_name, isNew, stored, transactions) => {
    for (const storageQuotas of [QUOTAS, { ...QUOTAS, sessions: null }]) {
      const turn = setUp();
      await storeTurn({ store: turn.store, storageQuotas }, turn.store, QUEST, SESSION, isNew);
      expect([await turn.stored(), turn.transactions()]).toEqual([stored, transactions]);
    }
  });

  it.each(['quest', 'session'] as const)('is refused whole where its %s exists', async (kind) => {
    const turn = setUp();
    await turn.add(kind);
    const before = await turn.stored();
    const services = { store: turn.store, storageQuotas: QUOTAS };
    await expect(storeTurn(services, turn.store, QUEST, SESSION, true)).rejects.toMatchObject(BUSY);
    expect(await turn.stored()).toEqual(before);
  });

  it('is refused in a session with another turn of the same id', async () => {
    const turn = setUp();
    await turn.add('quest');
    const services = { store: turn.store, storageQuotas: QUOTAS };
    await expect(storeTurn(services, turn.store, QUEST, SESSION, false)).rejects.toMatchObject(BUSY);
  });

  it('joins the transaction of its caller', async () => {
    const turn = setUp();
    const services = { store: turn.store, storageQuotas: QUOTAS };
    const failing = turn.store.transaction(async (inner) => {
      await storeTurn(services, inner, QUEST, SESSION, true);
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect([await turn.stored(), turn.transactions()]).toEqual([[0, 0], 1]);
  });

  it.each([true, false])(
    'needs room in the quota of the owner of the session (new session: %s)',
    async (isNew) => {
      for (const [bytes, isRefused] of [
        [999, false],
        [1000, true],
      ] as const) {
        const turn = setUp();
        await turn.use(bytes);
        const storing = storeTurn(
          { store: turn.store, storageQuotas: QUOTAS },
          turn.store,
          QUEST,
          SESSION,
          isNew,
        );
        if (isRefused) {
          await expect(storing).rejects.toMatchObject(FULL);
          expect(await turn.stored()).toEqual([0, 0]);
        } else await storing;
      }
    },
  );
});

describe('writes of a turn', () => {
  it.each([
    [true, [1, 1]],
    [false, [0, 1]],
  ])('are all or none (new session: %s)', async (isNew, stored) => {
    const { store, stored: read } = setUp();
    const writes = turnWrites(QUEST, SESSION, isNew, QUOTAS);
    expect(await writeAll(store, writes)).toBe(true);
    expect(await read()).toEqual(stored);
    expect(await writeAll(store, writes)).toBe(false);
    expect(await read()).toEqual(stored);
  });

  it('are refused without room in the quota', async () => {
    const { store, use, stored } = setUp();
    await use(1000);
    expect(await writeAll(store, turnWrites(QUEST, SESSION, true, QUOTAS))).toBe(false);
    expect(await stored()).toEqual([0, 0]);
    const free = turnWrites(QUEST, SESSION, true, { ...QUOTAS, sessions: null });
    expect(await writeAll(store, free)).toBe(true);
  });
});
