import { randomBytes } from 'node:crypto';
import type { Publisher } from '@questline/core';
import { createMemoryPublisher } from '@questline/core/memory';
import type { RedisSubscriber } from './client.ts';
import { createLink, type RedisLink, type RedisOptions } from './link.ts';
import { createChannels } from './publisher/channels.ts';

export interface RedisPublisherOptions {
  /**
   * A connection to listen on, never closed from here. Default: a duplicate of `client`, open exactly as long as somebody
   * listens; of a cluster, the client itself.
   */
  readonly subscriber?: RedisSubscriber;
  /** Hears what a listener threw, and when the server refuses a subscription that had to be made again. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Messages to listeners in all processes on one Redis. Those of this process always hear at once, also while Redis is
 * away; the others hear nothing then. A publication that reached nobody else is no error.
 */
export function createRedisPublisher(options: RedisOptions & RedisPublisherOptions): Publisher {
  return publisherOn(createLink(options), options);
}

export function publisherOn(
  link: RedisLink,
  { subscriber, onError = () => undefined }: RedisPublisherOptions,
): Publisher {
  /** Tells our own messages, which come back to us like all others: they have been heard here already. */
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
      const channel = link.keyOf('topic', topic);
      await local.publish(channel, message, options);
      const sent = link.run(channel, (client) => client.call('PUBLISH', channel, `${origin} ${message}`));
      // That Redis is away has been told; a message is lost on nobody who reads the store.
      await sent.catch(() => undefined);
    },

    async subscribe(topic, listener) {
      const channel = link.keyOf('topic', topic);
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
