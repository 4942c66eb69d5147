import type { RedisClient, RedisSubscriber } from '../client.ts';

/** Where subscriptions live. */
export interface SubscriberConnection {
  readonly redis: RedisSubscriber;
  /** Takes off what was put on it; closes it only when it is ours. */
  release(channels: readonly string[]): void;
  /** Asks for a sign of life: a connection of ours that has died without telling is then found out, and made anew. */
  probe(): void;
}

export interface ConnectionListeners {
  readonly onMessage: (channel: string, message: string) => void;
  /** It has just been made, or made anew. */
  readonly onReady: () => void;
}

type OwnSubscriber = RedisSubscriber & { disconnect(): void };

/** The user's subscriber if there is one; of a cluster the client itself, which keeps a connection for it; else a duplicate. */
export function openConnection(
  client: RedisClient,
  subscriber: RedisSubscriber | undefined,
  { onMessage, onReady }: ConnectionListeners,
): SubscriberConnection {
  const own = subscriber === undefined && !client.isCluster ? duplicateOf(client) : undefined;
  const redis = own ?? subscriber ?? (client as RedisSubscriber);
  // Its errors are those of the client it was made from, where its owner listens; unheard, they would be printed.
  const ignore = () => undefined;
  redis.on('message', onMessage);
  redis.on('ready', onReady);
  own?.on('error', ignore);
  return {
    redis,
    release(channels) {
      redis.off('message', onMessage);
      redis.off('ready', onReady);
      if (own !== undefined) own.disconnect();
      else if (channels.length > 0) redis.unsubscribe(...channels).catch(ignore);
    },
    probe: () => own?.call('PING').catch(ignore),
  };
}

/** Keeps on trying, whatever the user's commands do: nobody waits for it. */
function duplicateOf(client: RedisClient): OwnSubscriber {
  const { duplicate } = client as unknown as { duplicate(overrides: object): OwnSubscriber };
  return duplicate.call(client, {
    lazyConnect: false,
    enableOfflineQueue: true,
    autoResubscribe: true,
    maxRetriesPerRequest: null,
    // What is asked and not answered for so long shows that the connection is dead.
    socketTimeout: 1000,
    retryStrategy: (times: number) => Math.min(times * 100, 2000),
  });
}
