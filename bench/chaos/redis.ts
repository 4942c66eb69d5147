import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';

/** A Redis server of this run only, which may be broken. */
export interface OwnRedis {
  readonly url: string;
  /** Ends the connections of all clients. */
  cut(): Promise<void>;
  /** Deletes everything. */
  flush(): Promise<void>;
  /** Ends, and starts empty after a pause. */
  restart(awayMs: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startOwnRedis(port: number): Promise<OwnRedis> {
  const start = async (): Promise<ChildProcess> => {
    const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    const child = spawn('redis-server', options, { stdio: 'ignore' });
    await once(child, 'spawn');
    return child;
  };
  let server = await start();
  const client = new Redis({ port, retryStrategy: () => 50, maxRetriesPerRequest: null });
  client.on('error', () => undefined);
  await client.ping();
  const kill = async (): Promise<void> => {
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    async cut() {
      await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    },
    async flush() {
      await client.flushall();
    },
    async restart(awayMs) {
      await kill();
      await pause(awayMs);
      server = await start();
      await client.ping();
    },
    async stop() {
      client.disconnect();
      await kill();
    },
  };
}
