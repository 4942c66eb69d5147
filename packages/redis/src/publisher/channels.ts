import { StorageUnavailable } from '@questline/core/ports';
import { isReplyError, type RedisSubscriber } from '../client.ts';
import { within } from '../deadline.ts';
import type { RedisConnection } from '../link.ts';
import { openConnection, type SubscriberConnection } from './connection.ts';

export interface ChannelsOptions {
  readonly subscriber: RedisSubscriber | undefined;
  readonly onMessage: (channel: string, message: string) => void;
  readonly onError: (error: unknown) => void;
}

/** The subscribed channels, on one connection that is open while there are subscriptions. */
export interface Channels {
  /**
   * Resolves when the channel is subscribed. While Redis is unavailable, resolves at the deadline; the subscription follows its return.
   * @throws the error response of the server, such as missing rights.
   */
  add(channel: string): Promise<void>;
  remove(channel: string): void;
}

interface Heard {
  listeners: number;
  readonly active: Promise<void>;
}

export function createChannels(
  link: RedisConnection,
  { subscriber, onMessage, onError }: ChannelsOptions,
): Channels {
  const channels = new Map<string, Heard>();
  let connection: SubscriberConnection | undefined;
  let stopWatching = (): void => undefined;

  const open = (): SubscriberConnection => {
    const opened = openConnection(link.client, subscriber, {
      onMessage,
      // Also commands that the client dropped without a connection.
      onReady() {
        opened.redis.subscribe(...channels.keys()).catch(report);
      },
    });
    // The outage of the client's connection may have ended this one, too, without an event.
    stopWatching = link.onBack(opened.probe);
    return opened;
  };

  const close = (last: string): void => {
    stopWatching();
    connection?.release(last);
    connection = undefined;
  };

  const report = (error: unknown): void => {
    if (isReplyError(error)) onError(error);
  };

  const subscribe = async (channel: string): Promise<void> => {
    connection ??= open();
    const answer = connection.redis.subscribe(channel);
    try {
      await within(answer, link.deadline(), silent);
    } catch (error) {
      if (isReplyError(error)) throw error;
      answer.catch(report);
    }
  };

  const remove = (channel: string): void => {
    const heard = channels.get(channel);
    if (heard === undefined) return;
    heard.listeners -= 1;
    if (heard.listeners > 0) return;
    channels.delete(channel);
    if (channels.size === 0) close(channel);
    else connection?.redis.unsubscribe(channel).catch(report);
  };

  return {
    async add(channel) {
      let heard = channels.get(channel);
      if (heard === undefined) {
        heard = { listeners: 0, active: subscribe(channel) };
        channels.set(channel, heard);
      }
      heard.listeners += 1;
      try {
        await heard.active;
      } catch (error) {
        remove(channel);
        throw error;
      }
    },
    remove,
  };
}

function silent(): Error {
  return new StorageUnavailable('Redis did not answer in time');
}
