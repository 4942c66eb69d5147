import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Api, toNodeListener } from '@questline/core';
import { forkScript } from './children/fork.ts';

/** A process that serves requests and runs jobs until it is killed. */
export interface ServerProcess {
  readonly child: ChildProcess;
  readonly url: string;
  /** Epoch milliseconds. */
  readonly listeningAt: number;
  readonly errors: string[];
}

/**
 * Starts a process and resolves when it listens. @param file a script that calls `live`, which receives the
 * address of the workspace.
 */
export async function startServerProcess(file: string, address: object): Promise<ServerProcess> {
  const child = forkScript(file);
  const errors: string[] = [];
  const listening = new Promise<number>((resolve) => {
    child.on('message', (message: { port?: number; error?: string }) => {
      if (message.port !== undefined) resolve(message.port);
      if (message.error !== undefined) errors.push(message.error);
    });
  });
  child.send(address);
  const url = `http://127.0.0.1:${await listening}`;
  return { child, url, listeningAt: Date.now(), errors };
}

export async function stopServerProcess(
  { child }: ServerProcess,
  signal: 'SIGKILL' | 'SIGTERM',
): Promise<void> {
  child.kill(signal);
  await once(child, 'exit');
}

/** Runs in the child process. */
export function live<A>(
  open: (address: A, onError: (error: unknown) => void) => Promise<{ readonly api: Api }>,
): void {
  process.once('message', async (address: A) => {
    const { api } = await open(address, (error) => process.send?.({ error: String(error) }));
    await api.start();
    const server = createServer(toNodeListener(api));
    server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
  });
  process.once('disconnect', () => process.exit());
}
