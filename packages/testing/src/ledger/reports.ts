import type { CreditLedger, ExportedEntry } from '@questline/core/ports';
import { expect } from 'vitest';
import { inParallel } from '../parallel.ts';
import { alice, allLedgers, bob, grant, holdRequest, type LedgerCase, mustHold } from './subject.ts';

const TEAM = 'organization:team';

/** Reads an export to its end. */
async function readAll(
  ledger: CreditLedger,
  { account, limit = 3, after: start = 0 }: { account?: string; limit?: number; after?: number } = {},
): Promise<ExportedEntry[]> {
  const all: ExportedEntry[] = [];
  for (let after = start; ; after = all.at(-1)?.position ?? after) {
    const page =
      (await ledger.exportEntries?.({ after, limit, ...(account !== undefined && { account }) })) ?? [];
    all.push(...page);
    if (page.length < limit) return all;
  }
}

const total = (entries: readonly ExportedEntry[]) => entries.reduce((sum, { amount }) => sum + amount, 0);

/** The cases of reports and exports, which are optional. */
export const reportCases: readonly LedgerCase[] = [
  {
    name: 'adds up settled charges by group, with exact amounts and usage',
    section: 'behaviour',
    excuse: ({ ledger }) => (ledger.sumCharges ? undefined : 'the ledger has no reports'),
    async run(subject) {
      const { ledger, time } = subject;
      await grant(ledger, 1000);
      await grant(ledger, 1000, TEAM);
      const from = time.now();
      const pay = async (key: string, amount: number, input: number, more: object) =>
        ledger.settle(await mustHold(subject, key, 100, more), amount, { input, seconds: 0.5 });
      await pay('one', 1, 10, { userId: 'alice', keyId: 'key 1' });
      await pay('two', 2, 20, { userId: 'alice', keyId: 'key 2' });
      await pay('three', 4, 30, { userId: 'bob', account: TEAM });
      await ledger.release(await mustHold(subject, 'released', 10));
      await mustHold(subject, 'open', 10);
      const details = { operation: 'sendChatMessage', userId: 'alice' };
      await ledger.record({ account: alice, key: 'free', details, usage: { input: 5 } });
      await time.advance(time.unit);
      const to = time.now();
      await pay('late', 8, 40, { userId: 'alice' });
      const sum = (
        groupBy: readonly ('user' | 'key' | 'organization' | 'operation' | 'model' | 'day')[],
        filter = {},
      ) => ledger.sumCharges?.({ filter, from, to, groupBy, limit: 10 });
      expect(await sum(['user'])).toEqual([
        { group: { user: 'alice' }, requests: 3, amount: 3, usage: { input: 35, seconds: 1 } },
        { group: { user: 'bob' }, requests: 1, amount: 4, usage: { input: 30, seconds: 0.5 } },
      ]);
      expect(await sum(['key', 'operation'], { account: alice })).toEqual([
        { group: { key: null, operation: 'sendChatMessage' }, requests: 1, amount: 0, usage: { input: 5 } },
        {
          group: { key: 'key 1', operation: 'createCompletion' },
          requests: 1,
          amount: 1,
          usage: { input: 10, seconds: 0.5 },
        },
        {
          group: { key: 'key 2', operation: 'createCompletion' },
          requests: 1,
          amount: 2,
          usage: { input: 20, seconds: 0.5 },
        },
      ]);
      const byOrganization = (await sum(['organization', 'model'])) ?? [];
      expect(byOrganization.map(({ group, amount }) => ({ ...group, amount }))).toEqual([
        { organization: null, model: null, amount: 3 },
        { organization: 'team', model: null, amount: 4 },
      ]);
      const [whole] = (await sum([])) ?? [];
      expect(whole).toMatchObject({ group: {}, requests: 4, amount: 7 });
      expect(await sum([], { userId: 'unknown' })).toEqual([]);
      const day = from - (from % 86_400_000);
      expect((await sum(['day'], { userId: 'bob' }))?.map(({ group }) => group)).toEqual([{ day }]);
      expect(await ledger.sumCharges?.({ filter: {}, from, to, groupBy: ['user'], limit: 1 })).toHaveLength(
        1,
      );
    },
  },
  {
    name: 'exports every entry once, in order, with the cause of each charge',
    section: 'behaviour',
    excuse: ({ ledger }) => (ledger.exportEntries ? undefined : 'the ledger has no exports'),
    async run(subject) {
      const { ledger } = subject;
      await grant(ledger, 100);
      await grant(ledger, 50, bob);
      const ids = { model: 'm', userId: 'alice', keyId: 'key 1', requestId: 'request 1' };
      const details = { operation: 'createCompletion', ...ids };
      const held = await ledger.hold({ ...holdRequest(subject, 'call', 20), details });
      if (held.outcome !== 'held') throw new Error(`not held: ${held.outcome}`);
      await ledger.settle(held.hold, 15, { input: 3 });
      for (let amount = 1; amount < 5; amount += 1) await grant(ledger, amount, bob);
      await ledger.settle(await mustHold(subject, 'uncounted', 20), 1);
      const all = await readAll(ledger);
      expect(all.map(({ account, kind, amount }) => [account, kind, amount])).toEqual([
        [alice, 'grant', 100],
        [bob, 'grant', 50],
        [alice, 'charge', -15],
        [bob, 'grant', 1],
        [bob, 'grant', 2],
        [bob, 'grant', 3],
        [bob, 'grant', 4],
        [alice, 'charge', -1],
      ]);
      expect(all[2]).toMatchObject({ key: expect.any(String), details, usage: { input: 3 } });
      expect(all[7]?.details).toEqual({ operation: 'createCompletion' });
      expect(all[7]).not.toHaveProperty('usage');
      expect(all[0]).not.toHaveProperty('details');
      const positions = all.map(({ position }) => position);
      expect(positions).toEqual([...positions].sort((a, b) => a - b));
      expect(positions[0]).toBeGreaterThan(0);
      expect(total(await readAll(ledger, { account: alice }))).toBe(84);
      expect(await readAll(ledger, { after: all.at(-1)?.position ?? 0 })).toEqual([]);
      await grant(ledger, 9);
      const more = await readAll(ledger, { after: all.at(-1)?.position ?? 0 });
      expect(more.map(({ amount }) => amount)).toEqual([9]);
      expect((await ledger.entries(alice, { limit: 1 }))[0]).not.toHaveProperty('position');
    },
  },
  {
    name: 'exports each entry once while other processes add more',
    section: 'race',
    excuse: ({ ledger }) => (ledger.exportEntries ? undefined : 'the ledger has no exports'),
    async run(subject) {
      const { ledger } = subject;
      const accounts = [alice, bob, TEAM];
      for (const account of accounts) await grant(ledger, 1_000_000, account);
      let isWriting = true;
      const follow = async (account: string | undefined): Promise<ExportedEntry[]> => {
        const seen: ExportedEntry[] = [];
        for (;;) {
          const wasWriting = isWriting;
          const after = seen.at(-1)?.position ?? 0;
          seen.push(
            ...(await readAll(ledger, { limit: 7, after, ...(account !== undefined && { account }) })),
          );
          if (!wasWriting) return seen;
          await new Promise<void>((resolve) => void setImmediate(resolve));
        }
      };
      const readers = [undefined, ...accounts].map(follow);
      await inParallel(90, allLedgers(subject), async (peer, at) => {
        const account = accounts[at % accounts.length] ?? alice;
        if (at % 5 === 0) {
          await peer.grant({ account, amount: at + 1, key: `more ${at}`, reason: 'test' });
          return;
        }
        const hold = await mustHold({ ...subject, ledger: peer }, `call ${at}`, 200, { account });
        await peer.settle(hold, at + 1);
      });
      isWriting = false;
      const [all = [], ...each] = await Promise.all(readers);
      expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
      expect(all).toHaveLength(93);
      for (const [at, account] of accounts.entries()) {
        const { posted } = await ledger.balance(account);
        expect(total(all.filter((entry) => entry.account === account))).toBe(posted);
        expect(total(each[at] ?? [])).toBe(posted);
        expect(new Set(each[at]?.map(({ id }) => id)).size).toBe(each[at]?.length);
      }
    },
  },
];
