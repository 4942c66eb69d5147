import { type CallOptions, CrossShardWrite, type Store } from '@questline/core/ports';
import type { ShardAccess } from './collection.ts';
import type { ShardDirectory } from './directory.ts';
import type { ShardNode } from './nodes.ts';
import { createSeenOver, type Seen, type ShardRouter } from './router.ts';

/** Why an attempt cannot go on. */
type Obstacle =
  | { readonly needs: 'shard'; readonly node: ShardNode }
  | { readonly needs: 'placement'; readonly owner: string; readonly isNew: boolean };

/** Ends an attempt, which then starts again. */
class Again extends Error {
  readonly obstacle: Obstacle;

  constructor(obstacle: Obstacle) {
    super('the transaction starts again');
    this.obstacle = obstacle;
  }
}

/** Each attempt learns a shard or the place of one more owner. */
const MAX_ATTEMPTS = 1000;

/**
 * Runs `work` in a transaction of the first database that it writes to, or reads if it writes nothing. Records of other
 * databases are read as they are, outside of the transaction.
 * @throws CrossShardWrite for a write to a second database.
 */
export async function transactInOne<T>(
  router: ShardRouter,
  seen: Seen,
  work: (router: ShardRouter, access: ShardAccess) => Promise<T>,
  options: CallOptions | undefined,
): Promise<T> {
  /** Undefined: an owner without a shard. */
  const owners = new Map<string, string | undefined>();
  let node: ShardNode | undefined;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    try {
      if (node !== undefined) return await runIn(node, router, owners, seen, work, options);
      const { value, isDone } = await look(router, owners, seen, work);
      if (isDone) return value;
      node = router.nodes.home;
    } catch (error) {
      if (!(error instanceof Again)) throw error;
      const { obstacle } = error;
      if (obstacle.needs === 'shard') node = obstacle.node;
      else {
        const { owner, isNew } = obstacle;
        const { directory } = router;
        owners.set(owner, await (isNew ? directory.place(owner, options) : directory.find(owner, options)));
      }
    }
  }
  throw new Error('a transaction found no shard');
}

/** Throws the first obstacle at every further step, also if the work catches it. */
function createStops() {
  let first: Again | undefined;
  return {
    stop(obstacle: Obstacle): never {
      first ??= new Again(obstacle);
      throw first;
    },
    rethrow(): void {
      if (first !== undefined) throw first;
    },
  };
}

/** Placements are looked up between attempts: an engine may have one connection, which the transaction holds. */
function toKnownPlaces(
  owners: ReadonlyMap<string, string | undefined>,
  stop: (obstacle: Obstacle) => never,
): ShardDirectory {
  return {
    async find(owner) {
      return owners.has(owner) ? owners.get(owner) : stop({ needs: 'placement', owner, isNew: false });
    },
    place: async (owner) => owners.get(owner) ?? stop({ needs: 'placement', owner, isNew: true }),
  };
}

/** Runs the work until it touches a record whose place is known, to learn the shard. */
async function look<T>(
  router: ShardRouter,
  owners: ReadonlyMap<string, string | undefined>,
  below: Seen,
  work: (router: ShardRouter, access: ShardAccess) => Promise<T>,
): Promise<{ readonly value: T; readonly isDone: boolean }> {
  const { stop, rethrow } = createStops();
  const { seen } = createSeenOver(below);
  let isDone = true;
  const read: ShardAccess['read'] = (node, definition) => {
    rethrow();
    return node.store.collection(definition);
  };
  const value = await work(router.within({ directory: toKnownPlaces(owners, stop), read }), {
    seen,
    read,
    write: (node) => stop({ needs: 'shard', node }),
    touch: (node) => stop({ needs: 'shard', node }),
    getStepNode() {
      isDone = false;
      return undefined;
    },
    assumesSteps: true,
  }).catch((error: unknown) => {
    rethrow();
    // Without its own writes, the work may fail for another reason.
    if (isDone) throw error;
    return undefined as T;
  });
  rethrow();
  return { value, isDone };
}

async function runIn<T>(
  node: ShardNode,
  router: ShardRouter,
  owners: ReadonlyMap<string, string | undefined>,
  below: Seen,
  work: (router: ShardRouter, access: ShardAccess) => Promise<T>,
  options: CallOptions | undefined,
): Promise<T> {
  let added = createSeenOver(below);
  const value = await node.store.transaction(async (inner: Store) => {
    const { stop, rethrow } = createStops();
    added = createSeenOver(below);
    let hasWritten = false;
    const read: ShardAccess['read'] = (one, definition) => {
      rethrow();
      return (one === node ? inner : one.store).collection(definition);
    };
    const result = await work(router.within({ directory: toKnownPlaces(owners, stop), read }), {
      seen: added.seen,
      read,
      write(one, definition) {
        rethrow();
        if (one !== node) {
          if (hasWritten) throw new CrossShardWrite(`not to ${node.name} and ${one.name} in one transaction`);
          stop({ needs: 'shard', node: one });
        }
        hasWritten = true;
        return inner.collection(definition);
      },
      touch: () => undefined,
      getStepNode: () => node,
      assumesSteps: false,
    });
    rethrow();
    return result;
  }, options);
  added.keep();
  return value;
}
