import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createSqlPorts, type SqlDatabase } from '../src/index.ts';
import { moveCaps } from '../src/shards/cap-move.ts';
import { SQLITE_MEMORY } from './engines.ts';
import { shareDatabase } from './shared.ts';

describe('the counts of caps that move', () => {
  const shared = [shareDatabase(SQLITE_MEMORY), shareDatabase(SQLITE_MEMORY)] as const;

  it('are moved once after an interruption between two databases, also if one was counted meanwhile', async () => {
    const [source, target] = await Promise.all(shared.map((one) => one.fresh()));
    if (!source || !target) throw new Error('two databases');
    const open = (database: SqlDatabase) =>
      createSqlPorts(database, { clock: createFakeClock(), ids: createFakeIds() }).ledger;
    const [from, to] = [open(source), open(target)];
    const charge = async (ledger: typeof from, key: string, amount: number): Promise<void> => {
      const cap = { id: 'key:1:total', limit: 1000 };
      const details = { operation: 'chat' };
      const account = 'user:other';
      await ledger.grant({ account, amount, key, reason: 'test' });
      const held = await ledger.hold({ account, amount, key, expiresAt: 2e12, cap, details });
      if (held.outcome === 'held') await ledger.settle(held.hold, amount);
    };
    await charge(from, 'before', 30);
    await charge(to, 'there', 4);
    const lost = { ...source, transaction: () => Promise.reject(new Error('lost')) } as SqlDatabase;
    const move = (at: SqlDatabase) => moveCaps(['key:1:'], { owner: 'o', move: 'm' }, at, target);
    const read = () => Promise.all([from, to].map((ledger) => ledger.capUsed('key:1:total')));
    await expect(move(lost)).rejects.toThrow('lost');
    expect(await read()).toEqual([30, 34]);
    await charge(from, 'meanwhile', 5);
    for (let time = 0; time < 2; time += 1) {
      await move(source);
      expect(await read()).toEqual([5, 34]);
    }
    await moveCaps(['key:1:'], { owner: 'o', move: 'back' }, target, source);
    expect(await read()).toEqual([39, 0]);
  });
});
