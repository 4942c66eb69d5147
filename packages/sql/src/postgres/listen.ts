import { quote } from '../names.ts';
import type { PooledClient, PostgresPool } from './client.ts';

/** Hears what is notified on a channel, over one client of the pool. @returns stops it and gives the client up. */
export type Listen = (channel: string, onMessage: () => void) => () => void;

const RETRY_MS = 1000;

/** A connection that is lost is replaced; what was missed meanwhile counts as one message. */
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
      if (client === undefined && timer !== undefined) return;
      drop();
      if (isOver) return;
      timer = setTimeout(() => {
        timer = undefined;
        void start();
      }, RETRY_MS).unref();
    };
    const onNotification = (message: { channel: string }): void => {
      if (message.channel === channel) onMessage();
    };
    const start = async (): Promise<void> => {
      try {
        client = await pool.connect();
        if (isOver) return drop();
        // The loss of the connection is heard as its end; without a listener its error would end the process.
        client.on?.('error', ignore);
        client.on?.('end', restart);
        client.on?.('notification', onNotification);
        await client.query({ text: `listen ${quote(channel)}` });
        onMessage();
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
