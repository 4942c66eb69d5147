import { createMemoryLimiter } from '@questline/core/memory';
import type { CallOptions, RateLimiter, RateWindow, WindowState } from '@questline/core/ports';
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
  /** The state of each window and the one that rejects, or undefined while Redis is unavailable. */
  const ask = async (
    takes: number,
    key: string,
    windows: readonly RateWindow[],
    options: CallOptions | undefined,
  ) => {
    const name = link.getKey('limiter', key);
    const parts: (string | number)[] = [takes];
    for (const window of windows) parts.push(window.name, window.limit, window.lengthMs);
    try {
      const reply = await link.run(name, (client) => windowsScript.run(client, name, parts), options);
      return getStanding(reply, windows);
    } catch (error) {
      if (options?.signal?.aborted === true) throw error;
      return undefined;
    }
  };

  return {
    async take(key, windows, now, options) {
      const { report = [] } = options ?? {};
      const standing = await ask(windows.length, key, [...windows, ...report], options);
      if (standing === undefined) return fallback.take(key, windows, now, options);
      const { refusedBy, states } = standing;
      return refusedBy === undefined
        ? { allowed: true, windows: states }
        : { allowed: false, refusedBy, windows: states };
    },
    async peek(key, windows, now, options) {
      const standing = await ask(0, key, windows, options);
      return standing?.states ?? fallback.peek(key, windows, now, options);
    },
  };
}

interface Standing {
  readonly refusedBy: WindowState | undefined;
  readonly states: readonly WindowState[];
}

/** Numbers may arrive as text: ioredis has an option for that. */
function getStanding(reply: unknown, windows: readonly RateWindow[]): Standing {
  const numbers = (reply as readonly unknown[]).map(Number);
  const states = windows.map(({ name, limit }, at) => ({
    name,
    limit,
    remaining: Math.max(0, limit - (numbers[1 + 2 * at] ?? 0)),
    resetAt: numbers[2 + 2 * at] ?? 0,
  }));
  const refusing = numbers[0] ?? 0;
  return { refusedBy: refusing === 0 ? undefined : states[refusing - 1], states };
}
