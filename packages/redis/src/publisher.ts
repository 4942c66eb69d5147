import { randomBytes } from 'node:crypto';
import { createMemoryPublisher } from '@questline/core/memory';
import type { Publisher } from '@questline/core/ports';
import type { RedisSubscriber } from './client.ts';
import { createLink, type RedisConnection, type RedisOptions } from './link.ts';
import { createChannels } from './publisher/channels.ts';

export interface RedisPublisherOptions {
  /**
   * A connection for subscriptions, never closed here. Default: a duplicate of `client`, open while there are
   * listeners; for a cluster, the client itself.
   */
  readonly subscriber?: RedisSubscriber;
  /** Receives errors of listeners, and rejections of a repeated subscription by the server. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Messages to listeners in all processes on one Redis. Listeners of this process receive them immediately, also while Redis is
 * unreachable; other processes receive nothing then. A message without other receivers is no error.
 */
export function createRedisPublisher(options: RedisOptions & RedisPublisherOptions): Publisher {
  return publisherOn(createLink(options), options);
}

export function publisherOn(
  link: RedisConnection,
  { subscriber, onError = () => undefined }: RedisPublisherOptions,
): Publisher {
  /** Identifies our own messages, which Redis also returns to us: they were delivered already. */
  const origin = randomBytes(9).toString('base64url');
  const local = createMemoryPublisher({ onError });
  const channels = createChannels(link, {
    subscriber,
    onError,
    onMessage(channel, text) {
      const end = text.indexOf(' ');
      if (text.slice(0, end) !== origin) local.publish(channel, text.slice(end + 1)).catch(onError);
    },
  });

  return {
    async publish(topic, message, options) {
      const channel = link.getKey('topic', topic);
      await local.publish(channel, message, options);
      const sent = link.run(channel, (client) => client.call('PUBLISH', channel, `${origin} ${message}`));
      // The outage was reported already, and listeners that read the store miss nothing.
      await sent.catch(() => undefined);
    },

    async subscribe(topic, listener) {
      const channel = link.getKey('topic', topic);
      const end = await local.subscribe(channel, listener);
      let isEnded = false;
      try {
        await channels.add(channel);
      } catch (error) {
        await end();
        throw error;
      }
      return async () => {
        if (isEnded) return;
        isEnded = true;
        await end();
        channels.remove(channel);
      };
    },
  };
}
