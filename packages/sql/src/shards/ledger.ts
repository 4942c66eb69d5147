import type { Charge, CreditLedger, Hold, UsageQuery, UsageSum } from '@questline/core/ports';
import type { PlaceCache } from './directory.ts';
import { createShardedExport } from './exports.ts';
import {
  exportParts,
  getHistoryNodes,
  type HistoryPart,
  joinCharges,
  readEntries,
  toParts,
} from './history.ts';
import { compareValues } from './merge.ts';
import { type MoveWatch, watchCall } from './moves.ts';
import type { ShardNode, ShardWork } from './nodes.ts';
import { type ShardRouter, toSeenKey } from './router.ts';

const HOLDS = 'holds';

/**
 * A ledger over several databases: an account, its holds and its history are in the database of its user or
 * organization. A cap counts in the database of the account that pays: one that accounts of two shards share is checked
 * in each of them.
 */
export function createShardedLedger(
  router: ShardRouter,
  seen: PlaceCache,
  engine: object,
  watch: MoveWatch,
  isOwner: (name: string) => boolean,
): CreditLedger {
  const { nodes } = router;
  const ledgers = nodes.all.map(({ ledger }) => ledger);
  const exportAll = createShardedExport(nodes);

  const toOwner = (account: string): string | undefined => {
    const owner = account.slice(account.indexOf(':') + 1);
    return isOwner(owner) ? owner : undefined;
  };
  const forAccount = async (account: string): Promise<ShardNode> => {
    const owner = toOwner(account);
    return owner === undefined ? nodes.home : router.forOwner(owner);
  };
  const forHistory = async (account: string): Promise<readonly HistoryPart[]> => {
    const owner = toOwner(account);
    const former = owner === undefined ? [] : ((await router.directory.findFormer?.(owner, account)) ?? []);
    return toParts(await forAccount(account), former, nodes.get);
  };
  const getLedgers = async (account: string | undefined): Promise<readonly CreditLedger[]> =>
    account === undefined ? ledgers : getHistoryNodes(await forHistory(account)).map(({ ledger }) => ledger);
  const forHold = async ({ id, account }: Hold): Promise<ShardNode> => {
    const known = seen.get(toSeenKey(HOLDS, id));
    return known === undefined ? forAccount(account) : nodes.get(known);
  };
  const addUp = async (
    read: (ledger: CreditLedger) => Promise<number>,
    asked: readonly CreditLedger[] = ledgers,
  ): Promise<number> => (await Promise.all(asked.map(read))).reduce((sum, value) => sum + value, 0);

  /** Finding the database and calling it are one call: the account may move in between. */
  const inTime = <T>(call: () => Promise<T>): Promise<T> => watchCall(watch, call);

  return {
    balance: (account, options) =>
      inTime(async () => (await forAccount(account)).ledger.balance(account, options)),
    hold: (request, options) =>
      inTime(async () => {
        const node = await forAccount(request.account);
        const outcome = await node.ledger.hold(request, options);
        if (outcome.outcome === 'held') seen.set(toSeenKey(HOLDS, outcome.hold.id), node.name);
        return outcome;
      }),
    renew: (hold, ...rest) => inTime(async () => (await forHold(hold)).ledger.renew(hold, ...rest)),
    ...(ledgers.every(({ renewAll }) => renewAll !== undefined) && {
      renewAll: (holds, expiresAt, options) =>
        inTime(async () => {
          const looked = await Promise.allSettled(
            holds.map(async (hold) => ({ hold, node: await forHold(hold) })),
          );
          const placed = looked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
          const renewed = await addUp(async (ledger) => {
            const here = placed.filter(({ node }) => node.ledger === ledger).map(({ hold }) => hold);
            return here.length === 0 ? 0 : (ledger.renewAll?.(here, expiresAt, options) ?? 0);
          });
          // The holds of an owner that moves keep no others from being renewed.
          const refused = looked.find((one) => one.status === 'rejected');
          if (refused !== undefined) throw refused.reason;
          return renewed;
        }),
    }),
    settle: (hold, ...rest) => inTime(async () => (await forHold(hold)).ledger.settle(hold, ...rest)),
    toSettlement(hold, ...rest) {
      if (ledgers.some((ledger) => ledger.toSettlement === undefined)) return undefined;
      const owner = toOwner(hold.account);
      const work: ShardWork = {
        ...(owner !== undefined && { owner }),
        // When the settlement is made: the account may move before.
        get node() {
          return seen.get(toSeenKey(HOLDS, hold.id));
        },
        build: ({ ledger }) => ledger.toSettlement?.(hold, ...rest),
      };
      return { do: 'engine', engine, work, applied: () => undefined };
    },
    release: (hold) => inTime(async () => (await forHold(hold)).ledger.release(hold)),
    record: (charge) => inTime(async () => (await forAccount(charge.account)).ledger.record(charge)),
    grant: (grant, options) =>
      inTime(async () => (await forAccount(grant.account)).ledger.grant(grant, options)),
    entries: async (account, page, options) => readEntries(await forHistory(account), account, page, options),
    async charges(filter, limit, options) {
      const asked = await getLedgers(filter.account);
      const lists = await Promise.all(asked.map((ledger) => ledger.charges(filter, limit, options)));
      return joinCharges(lists.flat()).sort(newestFirst).slice(0, limit);
    },
    spent: async (filter, since, options) =>
      addUp((ledger) => ledger.spent(filter, since, options), await getLedgers(filter.account)),
    ...(ledgers.every(({ sumCharges }) => sumCharges !== undefined) && {
      async sumCharges(query, options) {
        const asked = await getLedgers(query.filter.account);
        const lists = await Promise.all(asked.map((ledger) => ledger.sumCharges?.(query, options) ?? []));
        return asked.length === 1 ? (lists[0] ?? []) : joinSums(lists.flat(), query);
      },
    }),
    ...(ledgers.every(({ exportEntries }) => exportEntries !== undefined) && {
      async exportEntries({ account, ...page }, options) {
        if (account === undefined) return exportAll(page, options);
        return exportParts(await forHistory(account), { ...page, account }, options);
      },
    }),
    ...(ledgers.every(({ capUsage }) => capUsage !== undefined) && {
      async capUsage(capIds, options) {
        const lists = await Promise.all(ledgers.map((ledger) => ledger.capUsage?.(capIds, options) ?? []));
        return capIds.map((_, at) => ({
          spent: lists.reduce((sum, list) => sum + (list[at]?.spent ?? 0), 0),
          reserved: lists.reduce((sum, list) => sum + (list[at]?.reserved ?? 0), 0),
        }));
      },
    }),
    ...(ledgers.every(({ archiveCharges }) => archiveCharges !== undefined) && {
      async archiveCharges(page, archive, options) {
        let moved = 0;
        for (const ledger of ledgers) {
          const limit = page.limit - moved;
          if (limit === 0) break;
          moved += (await ledger.archiveCharges?.({ ...page, limit }, archive, options)) ?? 0;
        }
        return moved;
      },
    }),
    ...(ledgers.every(({ countArchivable }) => countArchivable !== undefined) && {
      countArchivable: (before, options) =>
        addUp(async (ledger) => ledger.countArchivable?.(before, options) ?? 0),
    }),
    capUsed: (capId, options) => addUp((ledger) => ledger.capUsed(capId, options)),
    sweep: (options) => addUp((ledger) => ledger.sweep(options)),
  };
}

function newestFirst(a: Charge, b: Charge): number {
  return b.createdAt - a.createdAt || compareValues(b.id, a.id);
}

/** Adds up the groups of several databases, in the order of the groups. */
function joinSums(sums: readonly UsageSum[], { groupBy, limit }: UsageQuery): readonly UsageSum[] {
  const joined = new Map<string, UsageSum>();
  for (const sum of sums) {
    const key = JSON.stringify(groupBy.map((dimension) => sum.group[dimension]));
    const before = joined.get(key);
    joined.set(key, before === undefined ? sum : addSums(before, sum));
  }
  return [...joined.values()]
    .sort((a, b) => {
      for (const dimension of groupBy) {
        const order = compareValues(a.group[dimension], b.group[dimension]);
        if (order !== 0) return order;
      }
      return 0;
    })
    .slice(0, limit);
}

function addSums(a: UsageSum, b: UsageSum): UsageSum {
  const usage: Record<string, number> = { ...a.usage };
  for (const [unit, amount] of Object.entries(b.usage)) usage[unit] = (usage[unit] ?? 0) + amount;
  return { group: a.group, requests: a.requests + b.requests, amount: a.amount + b.amount, usage };
}
