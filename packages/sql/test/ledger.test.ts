import { createFakeClock, createFakeIds, fakeTime, ledgerSuite } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createSqlLedger } from '../src/index.ts';
import { ENGINES } from './engines.ts';
import { shareDatabase } from './shared.ts';

describe.each(ENGINES)('$name', (engine) => {
  const shared = shareDatabase(engine);

  const create = async () => {
    const clock = createFakeClock();
    const ledger = createSqlLedger(await shared.fresh(), { clock, ids: createFakeIds(1) });
    const peer = createSqlLedger(shared.peer(), { clock, ids: createFakeIds(2) });
    return { ledger, peers: [peer], time: fakeTime(clock) };
  };

  ledgerSuite({ name: engine.name, create });

  it('keeps amounts exact up to the largest safe integer and rejects larger ones', async () => {
    const { ledger } = await create();
    const most = Number.MAX_SAFE_INTEGER;
    await ledger.grant({ account: 'user:a', amount: most, key: 'a', reason: 'all' });

    expect(await ledger.balance('user:a')).toEqual({ posted: most, held: 0, available: most });
    await expect(ledger.grant({ account: 'user:a', amount: 1, key: 'b', reason: 'more' })).rejects.toThrow(
      RangeError,
    );
    expect((await ledger.balance('user:a')).posted).toBe(most);
    expect(await ledger.entries('user:a', { limit: 10 })).toHaveLength(1);
  });
});
