import type { ExpiringRecords, Publisher, RateLimiter } from '@questline/core';
import { expiringOn } from './expiring.ts';
import { limiterOn, type RedisLimiterOptions } from './limiter.ts';
import { createLink, type RedisOptions } from './link.ts';
import { publisherOn, type RedisPublisherOptions } from './publisher.ts';

export interface RedisPorts {
  readonly limiter: RateLimiter;
  readonly publisher: Publisher;
  readonly expiring: ExpiringRecords;
}

/** Everything this package does, on one client: that Redis went away or came back is noticed and told once for all. */
export function createRedisPorts(
  options: RedisOptions & RedisLimiterOptions & RedisPublisherOptions,
): RedisPorts {
  const link = createLink(options);
  return {
    limiter: limiterOn(link, options),
    publisher: publisherOn(link, options),
    expiring: expiringOn(link),
  };
}
