import { type RateLimiter, takeAll, takeInTurn } from '@questline/core/ports';
import type { ShardNode } from './nodes.ts';
import type { ShardRouter } from './router.ts';

/** The windows of users; those of keys and addresses are in the home database. */
const OWNED = /^(?:user|paid|identity):([^:]+)/;

/** A limiter over several databases: windows of a user are in the user's database. */
export function createShardedLimiter(router: ShardRouter, isOwner: (name: string) => boolean): RateLimiter {
  const forKey = (key: string): Promise<ShardNode> | ShardNode => {
    const owner = OWNED.exec(key)?.[1];
    return owner === undefined || !isOwner(owner) ? router.nodes.home : router.forOwner(owner);
  };
  const take: RateLimiter['take'] = async (key, ...rest) => (await forKey(key)).limiter.take(key, ...rest);
  return {
    take,
    async takeAll(takes, now, options) {
      const nodes = await Promise.all(takes.map(({ key }) => forKey(key)));
      const [node = router.nodes.home, ...others] = new Set(nodes);
      return others.length > 0
        ? takeInTurn({ take }, takes, now, options)
        : takeAll(node.limiter, takes, now, options);
    },
    peek: async (key, ...rest) => (await forKey(key)).limiter.peek(key, ...rest),
  };
}
