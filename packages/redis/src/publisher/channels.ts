import { StorageUnavailable } from '@questline/core';
import { isReplyError, type RedisSubscriber } from '../client.ts';
import { within } from '../deadline.ts';
import type { RedisLink } from '../link.ts';
import { openConnection, type SubscriberConnection } from './connection.ts';

export interface ChannelsOptions {
  readonly subscriber: RedisSubscriber | undefined;
  readonly onMessage: (channel: string, message: string) => void;
  readonly onError: (error: unknown) => void;
}

/** The channels somebody listens to, on one connection that is open as long as there are any. */
export interface Channels {
  /**
   * Resolves when the channel is heard; or, while Redis is away, at the deadline: it is heard then as soon as Redis is back.
   * @throws what the server says when it refuses, such as a lack of rights.
   */
  add(channel: string): Promise<void>;
  remove(channel: string): void;
}

interface Heard {
  listeners: number;
  readonly active: Promise<void>;
}

export function createChannels(
  link: RedisLink,
  { subscriber, onMessage, onError }: ChannelsOptions,
): Channels {
  const channels = new Map<string, Heard>();
  let connection: SubscriberConnection | undefined;
  let stopWatching = (): void => undefined;

  const open = (): SubscriberConnection => {
    const opened = openConnection(link.client, subscriber, {
      onMessage(channel, message) {
        if (channels.has(channel)) onMessage(channel, message);
      },
      // Also what the client gave up while there was no connection.
      onReady() {
        if (channels.size > 0) opened.redis.subscribe(...channels.keys()).catch(report);
      },
    });
    // What took the client's connection away may have taken this one, too, and nobody has told it.
    stopWatching = link.onBack(opened.probe);
    return opened;
  };

  const close = (left: readonly string[]): void => {
    stopWatching();
    connection?.release(left);
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
    if (channels.size === 0) close([channel]);
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
