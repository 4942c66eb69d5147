export type { RedisClient, RedisSubscriber } from './client.ts';
export { createRedisEventLog } from './event-log.ts';
export { createRedisExpiringRecords } from './expiring.ts';
export { createRedisLimiter, type RedisLimiterOptions } from './limiter.ts';
export type { RedisOptions, RedisStateChange } from './link.ts';
export { createRedisPorts, type RedisPorts } from './ports.ts';
export { createRedisPublisher, type RedisPublisherOptions } from './publisher.ts';
