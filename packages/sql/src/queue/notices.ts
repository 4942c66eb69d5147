import { randomUUID } from 'node:crypto';
import type { Clock, Ids, Publisher } from '@questline/core/ports';
import type { SqlDatabase } from '../database.ts';
import { defineStatement } from '../statement.ts';

/** Minimum distance of two notices of one process. PostgreSQL commits notifying transactions one at a time. */
const NOTICE_MS = 25;
/** The accepting process looks for the job at once, the others after a random delay of up to this. */
const MAX_DELAY_MS = 25;
const SUBSCRIBE_AGAIN_MS = 60_000;

/** Notifies workers of other processes that jobs have become due. A notice may be lost: workers also poll. */
export interface JobNotices {
  /** Sends a notice, at most every 25 ms, outside of the transaction of the job. */
  announce(): void;
  /** Calls `wake` up to 25 ms after a notice of another process. @returns a function that ends it. */
  listen(wake: () => void): () => void;
}

export interface NoticeOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly channel: string;
  /** Instead of `LISTEN` and `NOTIFY`. */
  readonly publisher?: Publisher | undefined;
}

export function createJobNotices(
  database: SqlDatabase,
  { clock, ids, channel, publisher }: NoticeOptions,
): JobNotices {
  const sender = randomUUID();
  const { send, receive } =
    publisher === undefined
      ? createChannel(database, channel, sender)
      : createTopic(publisher, clock, `${channel}.ready`, sender);
  let isQuiet = false;
  let isPending = false;

  const announce = (): void => {
    if (isQuiet) {
      isPending = true;
      return;
    }
    isQuiet = true;
    isPending = false;
    send().catch(() => undefined);
    clock.timer(NOTICE_MS, () => {
      isQuiet = false;
      if (isPending) announce();
    });
  };

  return {
    announce,
    listen(wake) {
      let cancel: (() => void) | undefined;
      const stop = receive((from) => {
        if (from === sender || cancel !== undefined) return;
        const [byte = 0] = ids.bytes(1);
        cancel = clock.timer(Math.ceil((byte / 255) * MAX_DELAY_MS), () => {
          cancel = undefined;
          wake();
        });
      });
      return () => {
        cancel?.();
        stop();
      };
    },
  };
}

interface Channel {
  send(): Promise<unknown>;
  /** @param onNotice gets the sender; undefined after a connection without notices. */
  receive(onNotice: (sender: string | undefined) => void): () => void;
}

function createChannel(database: SqlDatabase, channel: string, sender: string): Channel {
  if (database.dialect === 'sqlite' || database.listen === undefined) {
    throw new TypeError('listening for jobs needs a PostgreSQL pool');
  }
  const { dialect, run, listen } = database;
  const notify = defineStatement<'channel' | 'sender'>(dialect, 'select pg_notify(@channel, @sender)');
  return {
    send: () => run(notify({ channel, sender })),
    receive: (onNotice) => listen(channel, onNotice),
  };
}

function createTopic(publisher: Publisher, clock: Clock, topic: string, sender: string): Channel {
  return {
    send: () => publisher.publish(topic, sender),
    receive(onNotice) {
      let isOver = false;
      let end: (() => Promise<void>) | undefined;
      let cancel: (() => void) | undefined;
      const subscribe = async (): Promise<void> => {
        try {
          end = await publisher.subscribe(topic, onNotice);
          if (isOver) await end();
        } catch {
          if (!isOver) cancel = clock.timer(SUBSCRIBE_AGAIN_MS, () => void subscribe());
        }
      };
      void subscribe();
      return () => {
        isOver = true;
        cancel?.();
        end?.().catch(() => undefined);
      };
    },
  };
}
