import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { ArchivedCharge } from '../ports/ledger.ts';
import { createMemoryLedger } from './ledger.ts';

const account = 'user:a';
const details = { operation: 'chat' };

describe('archive of a memory ledger', () => {
  it('gets an expired hold only after the sweep that counts it', async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger({ clock });
    await ledger.hold({ account, amount: 0, key: 'held', expiresAt: clock.now() + 1000, details });
    await clock.advance(1000);
    const before = clock.now();
    const archive = () => ledger.archiveCharges?.({ before, limit: 9 }, async () => undefined);
    await ledger.balance(account);
    expect([await ledger.countArchivable?.(before), await archive()]).toEqual([0, 0]);
    expect(await ledger.sweep()).toBe(1);
    expect([await ledger.countArchivable?.(before), await archive()]).toEqual([1, 1]);
  });

  it('gets recorded usage with the time of its record', async () => {
    const clock = createFakeClock();
    const ledger = createMemoryLedger({ clock });
    const settledAt = clock.now();
    await ledger.record({ account, key: 'free', details });
    const archived: ArchivedCharge[] = [];
    await ledger.archiveCharges?.({ before: settledAt + 1, limit: 9 }, async (page) => {
      archived.push(...page);
    });
    expect(archived).toMatchObject([{ kind: 'record', key: 'free', createdAt: settledAt, settledAt }]);
  });
});
