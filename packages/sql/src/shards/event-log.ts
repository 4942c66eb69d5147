import type { EventLog } from '@questline/core/ports';
import type { MoveWatch } from './moves.ts';
import type { ShardNode } from './nodes.ts';
import type { Seen, ShardRouter } from './router.ts';

/** An event log over several databases: a stream is where the quest with its id is, others are in the home database. */
export function createShardedEventLog(
  router: ShardRouter,
  seen: Seen,
  watch: MoveWatch,
  getOwner: (stream: string) => string | undefined,
): EventLog {
  const { nodes } = router;
  const forStream = async (stream: string): Promise<ShardNode> => {
    await watch.refresh();
    const owner = getOwner(stream);
    if (owner !== undefined) return router.forOwner(owner);
    return (await router.findParent(['quests'], stream, seen)) ?? nodes.home;
  };
  return {
    append: async (stream, ...rest) => (await forStream(stream)).eventLog.append(stream, ...rest),
    read: async (stream, ...rest) => (await forStream(stream)).eventLog.read(stream, ...rest),
    compact: async (stream, ...rest) => (await forStream(stream)).eventLog.compact(stream, ...rest),
    async expire(options) {
      const counts = await Promise.all(nodes.all.map(({ eventLog }) => eventLog.expire(options)));
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}
