import type { EventLog, ExpiringRecords, Publisher, RateLimiter } from '@questline/core/ports';
import { eventLogOn } from './event-log.ts';
import { expiringOn } from './expiring.ts';
import { limiterOn, type RedisLimiterOptions } from './limiter.ts';
import { createLink, type RedisOptions } from './link.ts';
import { publisherOn, type RedisPublisherOptions } from './publisher.ts';

export interface RedisPorts {
  readonly limiter: RateLimiter;
  readonly publisher: Publisher;
  readonly expiring: ExpiringRecords;
  readonly eventLog: EventLog;
}

/** All ports of this package on one client: an outage is detected and reported once for all of them. */
export function createRedisPorts(
  options: RedisOptions & RedisLimiterOptions & RedisPublisherOptions,
): RedisPorts {
  const link = createLink(options);
  return {
    limiter: limiterOn(link, options),
    publisher: publisherOn(link, options),
    expiring: expiringOn(link),
    eventLog: eventLogOn(link),
  };
}
