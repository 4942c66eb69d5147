import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Api, toNodeListener } from '@questline/core';

/** A process that serves requests and does the work, until it is no more. */
export interface Life {
  readonly child: ChildProcess;
  readonly url: string;
  /** Milliseconds since 1970. */
  readonly listeningAt: number;
  readonly errors: string[];
}

/** Begins one: resolves when it listens. @param file calls `live`, and is told the address of its workspace. */
export async function beginLife(file: string, address: object): Promise<Life> {
  const child = fork(file, {
    // Each life would compile the same sources anew.
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'questline-test-compile-cache') },
    execArgv: ['--conditions=@questline/source', '--disable-warning=ExperimentalWarning'],
  });
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

export async function endLife({ child }: Life, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  child.kill(signal);
  await once(child, 'exit');
}

/** In the process itself. */
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
