import { createMemoryLimiter } from '@questline/core/memory';
import {
  type CallOptions,
  type RateDecision,
  type RateLimiter,
  type RateWindow,
  takeAll,
  takeInTurn,
  type WindowState,
} from '@questline/core/ports';
import { windowsScript } from './limiter/script.ts';
import { createLink, type RedisConnection, type RedisOptions } from './link.ts';

export interface RedisLimiterOptions {
  /**
   * Decides while Redis is unreachable. Default: the same windows, counted in this process only. For a service that must
   * fail closed: a limiter that rejects.
   */
  readonly fallback?: RateLimiter;
}

/** Rate limit windows that all processes on one Redis share, by its clock. Each `take` is atomic. A key expires with its windows. */
export function createRedisLimiter(options: RedisOptions & RedisLimiterOptions): RateLimiter {
  return limiterOn(createLink(options), options);
}

export function limiterOn(
  link: RedisConnection,
  { fallback = createMemoryLimiter() }: RedisLimiterOptions,
): RateLimiter {
  /** In a cluster keys may be in different slots, which one script cannot reach. */
  const isSplit = link.client.isCluster;

  /** The state of the windows of each key, up to the first that is refused; undefined while Redis is unavailable. */
  const ask = async (
    asked: readonly Asked[],
    options: CallOptions | undefined,
  ): Promise<readonly Standing[] | undefined> => {
    const keys = asked.map(({ key }) => link.getKey('limiter', key));
    const parts: (string | number)[] = [];
    for (const { takes, windows } of asked) {
      parts.push(windows.length, takes);
      for (const window of windows) parts.push(window.name, window.limit, window.lengthMs);
    }
    try {
      const reply = await link.run(
        keys[0] ?? '',
        (client) => windowsScript.run(client, keys, parts),
        options,
      );
      const lists = reply as readonly (readonly unknown[])[];
      return lists.map((list, at) => getStanding(list, asked[at]?.windows ?? []));
    } catch (error) {
      if (options?.signal?.aborted === true) throw error;
      return undefined;
    }
  };

  const take: RateLimiter['take'] = async (key, windows, now, options) => {
    const { report = [] } = options ?? {};
    const asked = { key, takes: windows.length, windows: [...windows, ...report] };
    const [standing] = (await ask([asked], options)) ?? [];
    return standing === undefined ? fallback.take(key, windows, now, options) : toDecision(standing);
  };

  return {
    take,
    async takeAll(takes, now, options) {
      if (isSplit || takes.length < 2) return takeInTurn({ take }, takes, now, options);
      const asked = takes.map(({ key, windows }) => ({ key, takes: windows.length, windows }));
      const standings = await ask(asked, options);
      return standings?.map(toDecision) ?? takeAll(fallback, takes, now, options);
    },
    async peek(key, windows, now, options) {
      const [standing] = (await ask([{ key, takes: 0, windows }], options)) ?? [];
      return standing?.states ?? fallback.peek(key, windows, now, options);
    },
  };
}

interface Asked {
  readonly key: string;
  /** The number of windows to take from, which come first. */
  readonly takes: number;
  readonly windows: readonly RateWindow[];
}

interface Standing {
  readonly refusedBy: WindowState | undefined;
  readonly states: readonly WindowState[];
}

/** Numbers may arrive as text: ioredis has an option for that. */
function getStanding(reply: readonly unknown[], windows: readonly RateWindow[]): Standing {
  const numbers = reply.map(Number);
  const states = windows.map(({ name, limit }, at) => ({
    name,
    limit,
    remaining: Math.max(0, limit - (numbers[1 + 2 * at] ?? 0)),
    resetAt: numbers[2 + 2 * at] ?? 0,
  }));
  const refusing = numbers[0] ?? 0;
  return { refusedBy: refusing === 0 ? undefined : states[refusing - 1], states };
}

function toDecision({ refusedBy, states }: Standing): RateDecision {
  return { allowed: refusedBy === undefined, ...(refusedBy && { refusedBy }), windows: states };
}
