import type { Clock, CreditLedger } from '@questline/core';
import { createMemoryLedger } from '@questline/core/memory';
import { createFakeClock, fakeTime, type LedgerSubject, ledgerCases } from '@questline/testing';
import { type Defect, defectTests, gap } from './red.ts';

/** More credit than any case grants: behind it a defect can hold what is not there. */
const HIDDEN = 1_000_000_000;

function defect(
  name: string,
  red: readonly string[],
  spoil: (sound: CreditLedger, clock: Clock) => Partial<CreditLedger>,
  ledgerClock = (clock: Clock): Clock => clock,
): Defect<LedgerSubject> {
  return {
    name,
    red,
    create: async () => {
      const clock = createFakeClock();
      const sound = createMemoryLedger({ clock: ledgerClock(clock) });
      return { ledger: { ...sound, ...spoil(sound, clock) }, time: fakeTime(clock) };
    },
  };
}

/** A ledger that would lend to anybody, seen from outside like one that has only what was granted. */
function lending(sound: CreditLedger): CreditLedger {
  const known = new Set<string>();
  const lend = async (account: string) => {
    if (known.has(account)) return;
    known.add(account);
    await sound.grant({ account, amount: HIDDEN, key: 'hidden', reason: 'hidden' });
  };
  return {
    ...sound,
    async balance(account) {
      await lend(account);
      const { posted, held, available } = await sound.balance(account);
      return { posted: posted - HIDDEN, held, available: available - HIDDEN };
    },
    async hold(request) {
      await lend(request.account);
      return sound.hold(request);
    },
    entries: async (account, page) =>
      (await sound.entries(account, page)).filter(({ key }) => key !== 'hidden'),
  };
}

defectTests('ledger', ledgerCases, [
  defect(
    'looks at the balance before it holds',
    ['of 200 parallel holds on credit for 10, exactly 10 are granted'],
    (sound) => {
      const lender = lending(sound);
      return {
        ...lender,
        async hold(request) {
          const { available } = await lender.balance(request.account);
          if (available < request.amount) {
            return { outcome: 'insufficient_credits', available, required: request.amount };
          }
          await gap();
          return lender.hold(request);
        },
      };
    },
  ),
  defect('lends one', ['a hold may take all that is available and nothing more'], (sound) => {
    const lender = lending(sound);
    return {
      ...lender,
      async hold(request) {
        const { available } = await lender.balance(request.account);
        if (available + 1 < request.amount) {
          return { outcome: 'insufficient_credits', available, required: request.amount };
        }
        return lender.hold(request);
      },
    };
  }),
  defect(
    'looks at the cap before it holds',
    ['of 200 parallel holds under a cap for 10, exactly 10 are granted'],
    (sound) => ({
      async hold(request) {
        const { cap, amount } = request;
        if (cap === undefined) return sound.hold(request);
        const used = await sound.capUsed(cap.id);
        if (used + amount > cap.limit) {
          return { outcome: 'spend_cap_exceeded', used, limit: cap.limit, required: amount };
        }
        await gap();
        return sound.hold({ ...request, cap: { ...cap, limit: Number.MAX_SAFE_INTEGER } });
      },
    }),
  ),
  defect(
    'knows no idempotency of holds',
    ['the same key holds once and answers the same hold', '50 parallel holds of one key hold once'],
    (sound) => {
      let calls = 0;
      return {
        hold(request) {
          calls += 1;
          return sound.hold({ ...request, key: `${request.key} ${calls}` });
        },
      };
    },
  ),
  defect(
    'looks for the grant before it makes it',
    ['of 50 parallel grants of one key, one is made'],
    (sound) => {
      const made = new Set<string>();
      let calls = 0;
      return {
        async grant(grant) {
          if (made.has(`${grant.account} ${grant.key}`)) return false;
          await gap();
          made.add(`${grant.account} ${grant.key}`);
          calls += 1;
          return sound.grant({ ...grant, key: `${grant.key} ${calls}` });
        },
      };
    },
  ),
  defect(
    'settles twice',
    [
      'settling again changes nothing and answers the first charge',
      'of 50 parallel settlements of one hold, one charges',
    ],
    (sound) => ({
      async settle(hold, actual, usage) {
        const settlement = await sound.settle(hold, actual, usage);
        if (settlement.first) return settlement;
        await sound.grant({
          account: hold.account,
          amount: -actual,
          key: `again ${Math.random()}`,
          reason: '',
        });
        return { charged: actual, first: true };
      },
    }),
  ),
  defect(
    'looks whether a hold is settled before it settles',
    ['of 50 parallel settlements of one hold, one charges'],
    (sound) => {
      const settled = new Set<string>();
      return {
        async settle(hold, actual, usage) {
          if (settled.has(hold.id)) return { charged: actual, first: false };
          await gap();
          settled.add(hold.id);
          const settlement = await sound.settle(hold, actual, usage);
          return { ...settlement, first: true };
        },
      };
    },
  ),
  defect(
    'refunds what is released after its end',
    ['a release after the settlement does nothing'],
    (sound) => {
      const charged = new Map<string, number>();
      return {
        async settle(hold, actual, usage) {
          charged.set(hold.id, actual);
          return sound.settle(hold, actual, usage);
        },
        async release(hold) {
          await sound.release(hold);
          const amount = charged.get(hold.id);
          if (amount === undefined) return;
          await sound.grant({ account: hold.account, amount, key: `refund ${hold.id}`, reason: 'refund' });
        },
      };
    },
  ),
  {
    name: 'frees lapsed holds only when swept',
    red: [
      'a lapsed hold stops counting by itself',
      'a lapsed hold does not count against the cap, a late settlement does',
    ],
    create: async () => {
      const clock = createFakeClock();
      let now = clock.now();
      const late = { now: () => now, timer: () => () => undefined };
      const sound = createMemoryLedger({ clock: late });
      const sweep = () => {
        now = clock.now();
        return sound.sweep();
      };
      return { ledger: { ...sound, sweep }, time: fakeTime(clock) };
    },
  },
  defect(
    'counts a hold one millisecond too long',
    ['a hold counts until the millisecond of its expiry, not longer'],
    () => ({}),
    (clock) => ({ ...clock, now: () => clock.now() - 1 }),
  ),
  defect('gives away what is settled late', ['a late settlement still charges, once'], (sound, clock) => ({
    async settle(hold, actual, usage) {
      if (clock.now() >= hold.expiresAt) return { charged: 0, first: false };
      return sound.settle(hold, actual, usage);
    },
  })),
  defect(
    'believes the caller about the hold',
    ['what a hold is worth is for the ledger to know, not for the caller'],
    (sound) => ({
      async settle(hold, actual, usage) {
        const settlement = await sound.settle(hold, actual, usage);
        if (!settlement.first || actual === 0) return settlement;
        const [charge] = await sound.charges({}, 1);
        const move = { key: `move ${hold.id}`, reason: 'move' };
        if (charge !== undefined) await sound.grant({ account: charge.account, amount: actual, ...move });
        await sound.grant({ account: hold.account, amount: -actual, ...move, key: `moved ${hold.id}` });
        return settlement;
      },
    }),
  ),
  defect(
    'repeats an entry on every page',
    ['entries can be paged through without gap or repetition'],
    (sound) => ({
      async entries(account, { limit, before }) {
        if (before === undefined) return sound.entries(account, { limit });
        const all = await sound.entries(account, { limit: 1000 });
        const at = all.findIndex(({ id }) => id === before);
        const isLast = at === all.length - 1;
        return isLast ? [] : all.slice(at, at + limit);
      },
    }),
  ),
  defect('counts open holds as spent', ['spending counts settled calls since an instant'], (sound) => ({
    async spent(filter, since) {
      const charges = await sound.charges(filter, 1000);
      return charges
        .filter(({ createdAt }) => createdAt >= since)
        .reduce((sum, { amount }) => sum + amount, 0);
    },
  })),
]);
