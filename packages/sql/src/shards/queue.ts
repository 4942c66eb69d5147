import type { JobQueue, LeasedJob, LeaseWanted, NewJob, OwnerLimit } from '@questline/core/ports';
import { type MoveWatch, watchCall } from './moves.ts';
import type { ShardNode, ShardWork } from './nodes.ts';
import { LIKELY, type Seen, type ShardRouter, toSeenKey } from './router.ts';

/** Jobs without an owner are one lane among those of owners, also in the home database. */
const NO_OWNER = 'shards:no-owner';
/** Owners that are remembered as served in the current round, by kind. */
const MAX_SERVED = 500;
/** Ids in a payload: the worker finds their records in the database of the job. */
const ID = /^[0-9a-f]{24}$/;

/** A queue over several databases: a job is in the database of its owner, or in the home database. */
export function createShardedQueue(
  router: ShardRouter,
  seen: Seen,
  engine: object,
  watch: MoveWatch,
  isOwner: (name: string) => boolean,
): JobQueue {
  const { nodes } = router;
  const queues = nodes.all.map(({ queue }) => queue);
  const rounds = createRounds();
  let turn = 0;

  const forJob = (owner: string | undefined): Promise<ShardNode> | ShardNode =>
    owner === undefined || !isOwner(owner) ? nodes.home : router.forOwner(owner);

  /** Leases from each database once. @param most the maximum number of jobs of one owner, by kind. */
  const pass = async (
    want: LeaseWanted,
    leased: LeasedJob[],
    most: ReadonlyMap<string, number>,
    options: Parameters<JobQueue['lease']>[1],
  ): Promise<{ readonly error: unknown } | undefined> => {
    let failure: { readonly error: unknown } | undefined;
    const begin = turn;
    turn = (turn + 1) % nodes.all.length;
    for (let at = 0; at < nodes.all.length && leased.length < want.limit; at += 1) {
      const node = nodes.all[(begin + at) % nodes.all.length] ?? nodes.home;
      const narrowed = narrow(want, leased, most, rounds, watch.moving);
      try {
        for (const job of await node.queue.lease(narrowed, options)) {
          rounds.add(job.kind, job.owner ?? NO_OWNER);
          leased.push(fromNode(node, job));
        }
      } catch (error) {
        // The owners of the other databases go on.
        failure = { error };
      }
    }
    return failure;
  };

  return {
    enqueue: (job, options) =>
      watchCall(watch, async () => {
        const node = await forJob(job.owner);
        const { id, added } = await node.queue.enqueue(toNode(job), options);
        return { id: toJobId(node, id), added };
      }),
    async lease(want, options) {
      await watch.refresh();
      const leased: LeasedJob[] = [];
      let most: ReadonlyMap<string, number> = new Map();
      for (;;) {
        const before = leased.length;
        const failure = await pass(want, leased, most, options);
        if (leased.length >= want.limit) break;
        if (failure !== undefined && leased.length === before) {
          if (before === 0) throw failure.error;
          break;
        }
        // Every waiting owner of a kind with room was served in this round.
        const over = want.kinds.filter(
          (kind) => rounds.served(kind).size > 0 && getRoom(want, leased, kind) > 0,
        );
        if (over.length === 0) break;
        most = share(want, leased, over, rounds);
        for (const kind of over) rounds.clear(kind);
      }
      for (const job of leased) noteRecords(job);
      return leased;
    },
    renew: (job, ...rest) => forLease(job, (queue, inner) => queue.renew(inner, ...rest)),
    finish: (job, ...rest) => forLease(job, (queue, inner) => queue.finish(inner, ...rest)),
    retry: (job, ...rest) => forLease(job, (queue, inner) => queue.retry(inner, ...rest)),
    ...(queues.every(({ findKeys }) => findKeys !== undefined) && {
      async findKeys(keys, options) {
        const found = await Promise.all(queues.map((queue) => queue.findKeys?.(keys, options) ?? []));
        return [...new Set(found.flat())];
      },
    }),
    onReady(listener) {
      const stops = queues.map((queue) => queue.onReady(listener));
      return () => {
        for (const stop of stops) stop();
      };
    },
    async counts(options) {
      const all = await Promise.all(queues.map((queue) => queue.counts(options)));
      const sum = (part: 'ready' | 'delayed' | 'leased') => all.reduce((total, one) => total + one[part], 0);
      return { ready: sum('ready'), delayed: sum('delayed'), leased: sum('leased') };
    },
    ...(queues.every(({ writes }) => writes !== undefined) && {
      writes: {
        enqueue: (job) =>
          toWrite({
            ...(job.owner !== undefined && isOwner(job.owner) && { owner: job.owner }),
            build: ({ queue }) => queue.writes?.enqueue(toNode(job)),
          }),
        finish(job) {
          const { node, id } = parseJobId(job.id);
          return toWrite({
            node,
            build: ({ queue }) => queue.writes?.finish({ ...job, id, owner: job.owner ?? NO_OWNER }),
          });
        },
      },
    }),
  };

  function toWrite(work: ShardWork) {
    return { do: 'engine' as const, engine, work, applied: () => undefined };
  }

  function forLease(
    job: LeasedJob,
    act: (queue: JobQueue, job: LeasedJob) => Promise<boolean>,
  ): Promise<boolean> {
    const { node, id } = parseJobId(job.id);
    return act(nodes.get(node).queue, { ...job, id, owner: job.owner ?? NO_OWNER });
  }

  /** The records that a job names are most likely in its database. */
  function noteRecords({ id, payload }: LeasedJob): void {
    if (payload === null || typeof payload !== 'object') return;
    const { node } = parseJobId(id);
    for (const value of Object.values(payload)) {
      if (typeof value !== 'string' || !ID.test(value)) continue;
      for (const name of ['quests', 'sessions', 'files']) {
        if (seen.get(toSeenKey(name, value)) === undefined) seen.set(toSeenKey(LIKELY + name, value), node);
      }
    }
  }
}

function toNode(job: NewJob): NewJob {
  return { ...job, owner: job.owner ?? NO_OWNER };
}

function fromNode(node: ShardNode, { owner, ...job }: LeasedJob): LeasedJob {
  return { ...job, id: toJobId(node, job.id), ...(owner !== undefined && owner !== NO_OWNER && { owner }) };
}

/** The id of a job names its database: a lease ends where it began. */
function toJobId(node: ShardNode, id: string): string {
  return `${id}@${node.name}`;
}

function parseJobId(jobId: string): { readonly node: string; readonly id: string } {
  const at = jobId.indexOf('@');
  return { id: jobId.slice(0, at), node: jobId.slice(at + 1) };
}

interface Rounds {
  add(kind: string, owner: string): void;
  served(kind: string): ReadonlySet<string>;
  clear(kind: string): void;
}

/** The owners that were served since every waiting owner was. */
function createRounds(): Rounds {
  const kinds = new Map<string, Set<string>>();
  return {
    add(kind, owner) {
      const served = kinds.get(kind) ?? new Set();
      kinds.set(kind, served.size < MAX_SERVED ? served.add(owner) : new Set([owner]));
    },
    served: (kind) => kinds.get(kind) ?? new Set(),
    clear: (kind) => void kinds.delete(kind),
  };
}

/** The number of jobs of a kind that are still wanted, within the limit of the kind. */
function getRoom(want: LeaseWanted, leased: readonly LeasedJob[], kind: string): number {
  const limit = want.limitByKind?.[kind] ?? Number.POSITIVE_INFINITY;
  return limit - leased.filter((job) => job.kind === kind).length;
}

/** As many jobs as each owner of the rounds that are over may have before one has two more than another. */
function share(
  want: LeaseWanted,
  leased: readonly LeasedJob[],
  over: readonly string[],
  rounds: Rounds,
): ReadonlyMap<string, number> {
  const count = (kind: string): number => rounds.served(kind).size;
  const all = over.reduce((sum, kind) => sum + count(kind), 0);
  return new Map(
    over.map((kind) => {
      const most = Math.min((want.limit - leased.length) / all, getRoom(want, leased, kind) / count(kind));
      return [kind, Math.max(1, Math.floor(most))];
    }),
  );
}

/** What to lease next: at most `most` jobs of an owner, by default one, and none of those that were served in this round or move. */
function narrow(
  want: LeaseWanted,
  leased: readonly LeasedJob[],
  most: ReadonlyMap<string, number>,
  rounds: Rounds,
  moving: ReadonlySet<string>,
): LeaseWanted {
  const perOwner: Record<string, OwnerLimit> = {};
  const limitByKind: Record<string, number> = {};
  for (const kind of want.kinds) {
    const ofKind = leased.filter((job) => job.kind === kind);
    if (want.limitByKind?.[kind] !== undefined) {
      limitByKind[kind] = Math.max(0, getRoom(want, leased, kind));
    }
    const asked = want.perOwner?.[kind];
    const own = most.get(kind) ?? 1;
    const max = Math.min(own, asked?.max ?? own);
    const held = new Map<string, number>();
    const count = (owner: string) => ofKind.filter((job) => job.owner === owner).length;
    if (asked !== undefined) {
      for (const owner of new Set([...asked.held.keys(), ...ofKind.flatMap((job) => job.owner ?? [])])) {
        const left = asked.max - (asked.held.get(owner) ?? 0) - count(owner);
        if (left < max) held.set(owner, max - Math.max(0, left));
      }
    }
    for (const owner of [...rounds.served(kind), ...moving]) held.set(owner, max);
    perOwner[kind] = { max, held };
  }
  return { ...want, limit: want.limit - leased.length, limitByKind, perOwner };
}
