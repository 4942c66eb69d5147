import { quote } from '../names.ts';
import type { PooledClient, PostgresPool } from './client.ts';

/**
 * Listens to a channel with one client of the pool. @param onMessage gets the payload; undefined after each connection.
 * @returns a function that stops and releases the client.
 */
export type Listen = (channel: string, onMessage: (payload: string | undefined) => void) => () => void;

const RETRY_MS = 1000;

/** Replaces a lost connection; missed notifications count as one message. */
export function createListen(pool: PostgresPool): Listen {
  return (channel, onMessage) => {
    let client: PooledClient | undefined;
    let timer: NodeJS.Timeout | undefined;
    let isOver = false;

    const drop = (): void => {
      client?.removeListener?.('notification', onNotification);
      client?.removeListener?.('end', restart);
      client?.release(true);
      client = undefined;
    };
    const restart = (): void => {
      if (timer !== undefined) return;
      drop();
      if (isOver) return;
      timer = setTimeout(() => {
        timer = undefined;
        void start();
      }, RETRY_MS).unref();
    };
    const onNotification = (message: { channel: string; payload?: string | undefined }): void => {
      if (message.channel === channel) onMessage(message.payload);
    };
    const start = async (): Promise<void> => {
      try {
        client = await pool.connect();
        if (isOver) return drop();
        // `end` reports the loss of the connection; without a listener, its error would end the process.
        client.on?.('error', ignore);
        client.on?.('end', restart);
        client.on?.('notification', onNotification);
        await client.query({ text: `listen ${quote(channel)}` });
        onMessage(undefined);
      } catch {
        restart();
      }
    };

    void start();
    return () => {
      isOver = true;
      clearTimeout(timer);
      drop();
    };
  };
}

function ignore(): void {}
