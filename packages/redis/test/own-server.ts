import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';

/** A Redis server that a test may break. */
export interface OwnServer {
  readonly port: number;
  close(): Promise<void>;
}

/** @returns undefined when `redis-server` is missing and not required. */
export async function startOwnServer(...options: string[]): Promise<OwnServer | undefined> {
  const port = await freePort();
  const server = spawn(
    'redis-server',
    ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...options],
    { stdio: 'ignore' },
  );
  try {
    await once(server, 'spawn');
  } catch (error) {
    if (process.env.CI === 'true') throw error;
    console.warn('redis-server is not available: replicas and flushes are not tested.');
    return undefined;
  }
  const client = new Redis({ port, retryStrategy: () => 50, maxRetriesPerRequest: null });
  client.on('error', () => undefined);
  await client.ping();
  await client.quit();
  return {
    port,
    async close() {
      server.kill('SIGKILL');
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}
