import { createMemoryLedger } from '@questline/core/memory';
import type { ArchivedCharge, Clock, CreditLedger } from '@questline/core/ports';
import { createFakeClock, fakeTime, type LedgerSubject, ledgerCases } from '@questline/testing';
import { type Defect, defectTests, gap } from './red.ts';

const UNCHANGED = 'answers like a ledger without an archive for any sequence of calls and archived charges';
const LATE = 'charges a late settlement of an archived released hold once, in full, with its caps';

/** More credit than any case grants, so that a defect can hold credit that does not exist. */
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

/** A ledger that lends to any account, seen from outside like one that has only what was granted. */
function lending({ exportEntries: _, ...sound }: CreditLedger): CreditLedger {
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
    'checks the balance before the hold without a lock',
    ['grants exactly 10 of 200 parallel holds on credit for 10'],
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
  defect('lends one unit', ['allows a hold of the whole available balance and not more'], (sound) => {
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
    'checks the cap before the hold without a lock',
    ['grants exactly 10 of 200 parallel holds under a cap for 10'],
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
    'has no idempotency of holds',
    ['returns the same hold for the same key', 'holds once in 50 parallel holds of one key'],
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
    ['makes one of 50 parallel grants of one key'],
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
    'returns the requested amount of a settlement instead of the charged one',
    ['charges one of several parallel settlements for different amounts and returns it to every caller'],
    (sound) => ({
      async settle(hold, actual, usage) {
        const { first } = await sound.settle(hold, actual, usage);
        return { charged: actual, first };
      },
    }),
  ),
  defect(
    'forgets the key of a settled hold',
    ['charges once when a call is repeated under the key of a settled hold'],
    (sound) => {
      const settled = new Set<string>();
      const keys = new Map<string, string>();
      return {
        async hold(request) {
          const known = keys.get(request.key);
          const isOver = known !== undefined && settled.has(known);
          const outcome = await sound.hold(isOver ? { ...request, key: `${request.key} again` } : request);
          if (outcome.outcome === 'held') keys.set(request.key, outcome.hold.id);
          return outcome;
        },
        async settle(hold, actual, usage) {
          settled.add(hold.id);
          return sound.settle(hold, actual, usage);
        },
      };
    },
  ),
  defect(
    'keeps whole seconds only',
    ['keeps every usage class as counted, including fractions of seconds'],
    (sound) => ({
      settle(hold, actual, usage) {
        const { seconds } = usage ?? {};
        return sound.settle(
          hold,
          actual,
          seconds === undefined ? usage : { ...usage, seconds: Math.round(seconds) },
        );
      },
    }),
  ),
  defect(
    'settles twice',
    [
      'returns the first charge on repeated settlements and changes nothing',
      'charges once in 50 parallel settlements of one hold',
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
    'checks whether a hold is settled without a lock',
    ['charges once in 50 parallel settlements of one hold'],
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
  defect('refunds a release after the end', ['ignores a release after the settlement'], (sound) => {
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
  }),
  {
    name: 'frees expired holds only in a sweep',
    red: [
      'stops counting an expired hold without a sweep',
      'counts a late settlement against the cap but not an expired hold',
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
    ['counts a hold until the millisecond of its expiry'],
    () => ({}),
    (clock) => ({ ...clock, now: () => clock.now() - 1 }),
  ),
  defect(
    'counts closed holds as renewed',
    ['renews several holds in one step, and only open ones'],
    (sound) => ({
      renewAll: async (holds, expiresAt) => {
        await sound.renewAll?.(holds, expiresAt);
        return holds.length;
      },
    }),
  ),
  defect(
    'renews only the first of several holds',
    ['renews several holds in one step, and only open ones'],
    (sound) => ({
      renewAll: async (holds, expiresAt) => (await sound.renewAll?.(holds.slice(0, 2), expiresAt)) ?? 0,
    }),
  ),
  defect('gives late settlements away', ['charges a late settlement once'], (sound, clock) => ({
    async settle(hold, actual, usage) {
      if (clock.now() >= hold.expiresAt) return { charged: 0, first: false };
      return sound.settle(hold, actual, usage);
    },
  })),
  defect(
    'trusts the caller about the hold',
    ['uses its own amount of a hold, not that of the caller'],
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
  defect('repeats an entry on every page', ['pages through entries without gap or repetition'], (sound) => ({
    async entries(account, { limit, before }) {
      if (before === undefined) return sound.entries(account, { limit });
      const all = await sound.entries(account, { limit: 1000 });
      const at = all.findIndex(({ id }) => id === before);
      const isLast = at === all.length - 1;
      return isLast ? [] : all.slice(at, at + limit);
    },
  })),
  defect('counts open holds as spent', ['counts settled calls since an instant as spending'], (sound) => ({
    async spent(filter, since) {
      const charges = await sound.charges(filter, 1000);
      return charges
        .filter(({ createdAt }) => createdAt >= since)
        .reduce((sum, { amount }) => sum + amount, 0);
    },
  })),
  defect(
    'counts open calls in reports',
    ['adds up settled charges by group, with exact amounts and usage'],
    (sound) => ({
      async sumCharges(query) {
        const { held } = await sound.balance('user:alice');
        const sums = (await sound.sumCharges?.(query)) ?? [];
        return sums.map((sum) => ({ ...sum, amount: sum.amount + held }));
      },
    }),
  ),
  defect(
    'loses entries that are added between pages of an export',
    ['exports each entry once while other processes add more'],
    (sound) => {
      let skipped = 0;
      return {
        async exportEntries(page) {
          const entries = (await sound.exportEntries?.(page)) ?? [];
          skipped += 1;
          return page.after > 0 && skipped % 5 === 0 ? entries.slice(1) : entries;
        },
      };
    },
  ),
  defect(
    'does not know further caps',
    [
      'reserves the amount of each cap, and replaces it by the actual one on settlement',
      'grants exactly what the tightest of three stacked caps allows to 200 parallel holds',
    ],
    (sound) => ({ hold: ({ caps: _, ...request }) => sound.hold(request) }),
  ),
  defect(
    'checks the first of several caps only',
    ['refuses by the cap at position 2 of 3, and counts against none'],
    (sound) => ({
      hold: ({ caps = [], ...request }) =>
        sound.hold({
          ...request,
          caps: caps.map((cap, at) => (at === 0 ? cap : { ...cap, limit: Number.MAX_SAFE_INTEGER })),
        }),
    }),
  ),
  defect(
    'counts a refused hold against the caps before the one that refuses',
    ['refuses by the cap at position 3 of 3, and counts against none'],
    (sound) => ({
      async hold(request) {
        const outcome = await sound.hold(request);
        if (outcome.outcome !== 'cap_exceeded') return outcome;
        const { caps = [], cap: _, ...rest } = request;
        const before = caps.slice(
          0,
          caps.findIndex(({ id }) => id === outcome.capId),
        );
        const key = `${request.key} refused`;
        await sound.hold({ ...rest, key, amount: 0, ignoresBalance: true, caps: before });
        return outcome;
      },
    }),
  ),
  defect(
    'checks further caps before the hold without a lock',
    ['grants exactly what the tightest of three stacked caps allows to 200 parallel holds'],
    (sound) => ({
      async hold({ caps = [], ...request }) {
        const usages = (await sound.capUsage?.(caps.map(({ id }) => id))) ?? [];
        const at = caps.findIndex(({ amount, limit }, place) => {
          const { spent = 0, reserved = 0 } = usages[place] ?? {};
          return spent + reserved + amount > limit;
        });
        await gap();
        const free = caps.map((cap, place) =>
          place === at ? cap : { ...cap, limit: Number.MAX_SAFE_INTEGER },
        );
        return sound.hold({ ...request, caps: free });
      },
    }),
  ),
  defect(
    'does not return a concurrent cap when a hold ends',
    ['gives the place of an ended hold to the next one under a concurrent cap'],
    (sound) => ({
      hold: ({ caps = [], ...request }) =>
        sound.hold({
          ...request,
          caps: caps.map((cap) => (cap.unit === 'concurrent' ? { ...cap, unit: 'requests' } : cap)),
        }),
    }),
  ),
  defect(
    'keeps the reserved tokens of a settled hold',
    ['reserves the amount of each cap, and replaces it by the actual one on settlement'],
    (sound) => ({ settle: (hold, actual) => sound.settle(hold, actual) }),
  ),
  defect('keeps the reserved amounts of a released hold', ['returns every unit on release'], (sound) => ({
    release: async (hold) => void (await sound.settle(hold, 0)),
  })),
  defect(
    'counts a repeated hold key again',
    ['counts the same hold key once against its caps, and answers it although they are full'],
    (sound) => {
      let calls = 0;
      return {
        async hold(request) {
          const { caps = [], cap: _, ...rest } = request;
          calls += 1;
          const outcome = await sound.hold({ ...rest, key: `${request.key} ${calls}`, amount: 0, caps });
          if (outcome.outcome !== 'held') return outcome;
          const { caps: __, ...once } = request;
          return sound.hold(once);
        },
      };
    },
  ),
  defect('loses the sums of archived charges', [UNCHANGED], (sound) => {
    const lost = new Set<string>();
    return {
      async archiveCharges(page, archive) {
        const moved = await sound.archiveCharges?.(page, async (charges) => {
          await archive(charges);
          for (const { account, status } of charges) if (status === 'settled') lost.add(account);
        });
        return moved ?? 0;
      },
      async sumCharges(query) {
        const sums = (await sound.sumCharges?.(query)) ?? [];
        return lost.size === 0 ? sums : sums.map((sum) => ({ ...sum, requests: sum.requests - 1 }));
      },
    };
  }),
  defect(
    'charges an archived key again',
    [
      'charges once when a call is repeated under an archived key',
      'charges and records each key once in parallel repetitions while charges are archived',
    ],
    (sound) => {
      const archived = new Set<string>();
      return {
        ...archiving(sound, (charges) => {
          for (const { key, kind } of charges) if (kind === 'hold') archived.add(key);
        }),
        hold: (request) =>
          sound.hold(archived.has(request.key) ? { ...request, key: `${request.key} again` } : request),
      };
    },
  ),
  defect(
    'records an archived key again',
    [
      'charges once when a call is repeated under an archived key',
      'charges and records each key once in parallel repetitions while charges are archived',
    ],
    (sound) => {
      const archived = new Set<string>();
      return {
        ...archiving(sound, (charges) => {
          for (const { key, kind } of charges) if (kind === 'record') archived.add(key);
        }),
        record: (charge) =>
          sound.record(archived.has(charge.key) ? { ...charge, key: `${charge.key} again` } : charge),
      };
    },
  ),
  defect('does not charge a late settlement of an archived hold', [LATE], (sound) => {
    const archived = new Set<string>();
    return {
      ...archiving(sound, (charges) => {
        for (const { key, status } of charges) if (status === 'released') archived.add(key);
      }),
      settle: async (hold, ...rest) =>
        archived.has(hold.id) ? { charged: 0, first: false } : sound.settle(hold, ...rest),
    };
  }),
  defect('fails at a late settlement of an archived hold', [LATE], (sound) => {
    const archived = new Set<string>();
    return {
      ...archiving(sound, (charges) => {
        for (const { key } of charges) archived.add(key);
      }),
      async settle(hold, ...rest) {
        if (archived.has(hold.id)) throw new Error('the hold is unknown');
        return sound.settle(hold, ...rest);
      },
    };
  }),
  defect('charges each late settlement of an archived hold', [LATE], (sound) => {
    const archived = new Set<string>();
    return {
      ...archiving(sound, (charges) => {
        for (const { key, status } of charges) if (status === 'released') archived.add(key);
      }),
      async settle(hold, actual, ...rest) {
        const settlement = await sound.settle(hold, actual, ...rest);
        if (settlement.first || !archived.has(hold.id)) return settlement;
        const { account, id } = hold;
        await sound.grant({ account, amount: -actual, key: `again ${id}`, reason: 'again' });
        return { charged: actual, first: true };
      },
    };
  }),
  defect(
    'moves charges before the archive has them',
    ['keeps charges that the archive rejects, and passes them again with their ids'],
    (sound) => ({
      async archiveCharges(page, archive) {
        let taken: Parameters<typeof archive>[0] = [];
        const moved = await sound.archiveCharges?.(page, async (charges) => {
          taken = charges;
        });
        if (taken.length > 0) await archive(taken);
        return moved ?? 0;
      },
    }),
  ),
  defect(
    'moves a charge that has changed since the archive got it',
    ['leaves a charge that is settled while the archive gets it'],
    (sound) => ({
      async archiveCharges(page, archive) {
        const moved = await sound.archiveCharges?.(page, archive);
        return moved === 0
          ? ((await sound.archiveCharges?.(page, async () => undefined)) ?? 0)
          : (moved ?? 0);
      },
    }),
  ),
  defect(
    'passes open holds to the archive',
    ['passes old settled and released charges to the archive with all fields, and keeps open ones'],
    (sound) => ({
      async archiveCharges(page, archive) {
        const all = await sound.charges({}, 100);
        const open = all.filter(({ status }) => status === 'reserved');
        const more = open.map((charge) => ({ ...charge, kind: 'hold' as const, key: charge.id }));
        return (await sound.archiveCharges?.(page, (charges) => archive([...charges, ...more]))) ?? 0;
      },
    }),
  ),
]);

/** A ledger that looks at archived charges. */
function archiving(
  sound: CreditLedger,
  see: (charges: readonly ArchivedCharge[]) => void,
): Pick<CreditLedger, 'archiveCharges'> {
  return {
    async archiveCharges(page, archive) {
      const moved = await sound.archiveCharges?.(page, async (charges) => {
        await archive(charges);
        see(charges);
      });
      return moved ?? 0;
    },
  };
}
