import type { LeaseWanted, OwnerLimit } from '../ports/queue.ts';

/** The fields of a job that decide the order. */
export interface TurnJob {
  readonly kind: string;
  readonly owner?: string;
  readonly runAt: number;
}

/** Round-robin state: the last served owner of each kind. */
export interface RoundRobin {
  /** Empty: no owner yet, or a job without an owner. */
  lastServed(kind: string): string;
  served(job: TurnJob): void;
  /**
   * Sorts jobs in the order of leasing: within a kind round-robin by owner, starting after the last served owner;
   * across kinds the older job first. Omits jobs beyond an owner's limit. @param jobs oldest first.
   */
  order<T extends TurnJob>(jobs: readonly T[], perOwner: LeaseWanted['perOwner']): T[];
}

export function createRoundRobin(): RoundRobin {
  const last = new Map<string, string>();
  const lastServed = (kind: string): string => last.get(kind) ?? '';

  const orderKind = <T extends TurnJob>(jobs: readonly T[], limit: OwnerLimit | undefined, after: string) => {
    const lanes = new Map<string, T[]>();
    for (const job of jobs) {
      const owner = job.owner ?? '';
      const lane = lanes.get(owner) ?? [];
      lanes.set(owner, lane);
      if (lane.length < getRoom(limit, owner)) lane.push(job);
    }
    const inTurn = [...lanes].sort(([a], [b]) => compareTurns(a, b, after)).map(([, lane]) => lane);
    const ordered: T[] = [];
    for (let round = 0; ; round += 1) {
      const before = ordered.length;
      for (const lane of inTurn) {
        const job = lane[round];
        if (job !== undefined) ordered.push(job);
      }
      if (ordered.length === before) return ordered;
    }
  };

  return {
    lastServed,
    served({ kind, owner = '' }) {
      last.set(kind, owner);
    },
    order(jobs, perOwner) {
      const kinds = new Set(jobs.map(({ kind }) => kind));
      const lists = [...kinds].map((kind) => {
        const own = jobs.filter((job) => job.kind === kind);
        return orderKind(own, perOwner?.[kind], lastServed(kind));
      });
      return mergeByAge(lists);
    },
  };
}

/** Returns how many more jobs of a kind an owner may lease. */
export function getRoom(limit: OwnerLimit | undefined, owner: string): number {
  if (limit === undefined || owner === '') return Number.POSITIVE_INFINITY;
  return Math.max(0, limit.max - (limit.held.get(owner) ?? 0));
}

/** Compares two owners in round-robin order, as stores order text: first the owners greater than `after`, then the others. */
function compareTurns(a: string, b: string, after: string): number {
  const isOver = (owner: string) => (compareCodePoints(owner, after) > 0 ? 0 : 1);
  return isOver(a) - isOver(b) || compareCodePoints(a, b);
}

/** UTF-8 has the order of code points, unlike the code units of strings. */
function compareCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Merges lists by the age of their first jobs. Each list keeps its order. */
function mergeByAge<T extends TurnJob>(lists: readonly (readonly T[])[]): T[] {
  const lanes = lists.map((list) => ({ list, at: 0 }));
  const merged: T[] = [];
  for (;;) {
    let oldest: { readonly head: T; readonly lane: (typeof lanes)[number] } | undefined;
    for (const lane of lanes) {
      const head = lane.list[lane.at];
      if (head === undefined || (oldest !== undefined && oldest.head.runAt <= head.runAt)) continue;
      oldest = { head, lane };
    }
    if (oldest === undefined) return merged;
    merged.push(oldest.head);
    oldest.lane.at += 1;
  }
}
