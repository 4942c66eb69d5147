import type { RedisClient, RedisSubscriber } from '../client.ts';

/** The connection of the subscriptions. */
export interface SubscriberConnection {
  readonly redis: RedisSubscriber;
  /** Removes its listeners and its last channel; closes only a connection of this package. */
  release(last: string): void;
  /** Sends a ping: detects and replaces a dead connection of this package. */
  probe(): void;
}

export interface ConnectionListeners {
  readonly onMessage: (channel: string, message: string) => void;
  /** The connection is new or replaced. */
  readonly onReady: () => void;
}

type OwnSubscriber = RedisSubscriber & { disconnect(): void };

/** The host's subscriber if given; for a cluster the client itself, which has a connection for it; else a duplicate. */
export function openConnection(
  client: RedisClient,
  subscriber: RedisSubscriber | undefined,
  { onMessage, onReady }: ConnectionListeners,
): SubscriberConnection {
  const own = subscriber === undefined && !client.isCluster ? getDuplicate(client) : undefined;
  const redis = own ?? subscriber ?? (client as RedisSubscriber);
  // The client that it duplicates reports the same errors to its owner; without a listener, ioredis would print them.
  const ignore = () => undefined;
  redis.on('message', onMessage);
  redis.on('ready', onReady);
  own?.on('error', ignore);
  return {
    redis,
    release(last) {
      redis.off('message', onMessage);
      redis.off('ready', onReady);
      if (own !== undefined) own.disconnect();
      else redis.unsubscribe(last).catch(ignore);
    },
    probe: () => own?.call('PING').catch(ignore),
  };
}

/** Retries forever, whatever the options of the user's client: no caller waits for it. */
function getDuplicate(client: RedisClient): OwnSubscriber {
  const { duplicate } = client as unknown as { duplicate(overrides: object): OwnSubscriber };
  return duplicate.call(client, {
    lazyConnect: false,
    enableOfflineQueue: true,
    autoResubscribe: true,
    maxRetriesPerRequest: null,
    // A command without an answer after this time means that the connection is dead.
    socketTimeout: 1000,
    retryStrategy: (times: number) => Math.min(times * 100, 2000),
  });
}
