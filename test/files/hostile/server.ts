import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { findBuilt, NODE_OPTIONS } from '../../support/children/fork.ts';
import type { MemoryCeiling } from './ceiling.ts';

/** A server process under a memory limit. */
export interface ServerProcess {
  readonly url: string;
  /** Email of the administrator. */
  readonly email: string;
  readonly pid: number;
  /** False after the end of the process. */
  readonly isAlive: boolean;
  /** The code that was mailed to the address. */
  codeFor(email: string): Promise<string>;
  kill(): Promise<void>;
}

type Message = { readonly url: string; readonly email: string } | { readonly print: string };

/** @param folder storage that all processes share. */
export async function startServerProcess(folder: string, ceiling: MemoryCeiling): Promise<ServerProcess> {
  const program = findBuilt(join(import.meta.dirname, 'server.child.ts'));
  const node = `${process.execPath} ${NODE_OPTIONS.join(' ')} ${program}`;
  const child = spawn('/bin/sh', ['-c', `${ceiling.enter}exec ${node}`], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      STORAGE_DIR: folder,
      PORT: '0',
      TRUST_PROXY: 'true',
    },
  });
  const output = createWriteStream(join(folder, 'server.log'), { flags: 'a' });
  child.stdout?.pipe(output, { end: false });
  child.stderr?.pipe(output, { end: false });
  const exited = once(child, 'exit');
  const codes = new Map<string, string>();
  const waiting = new Map<string, (code: string) => void>();
  const address = await new Promise<{ url: string; email: string }>((resolve, reject) => {
    child.on('message', (message: Message) => {
      if ('url' in message) return resolve(message);
      const [, email = '', code = ''] = /Mail for (\S+): .* is (\d{6})\./.exec(message.print) ?? [];
      codes.set(email, code);
      waiting.get(email)?.(code);
    });
    void exited.then(() => reject(new Error(`the server did not start; see ${folder}/server.log`)));
  });
  return {
    ...address,
    pid: child.pid ?? 0,
    get isAlive() {
      return child.exitCode === null && child.signalCode === null;
    },
    codeFor: (email) => {
      const known = codes.get(email);
      codes.delete(email);
      return known === undefined
        ? new Promise((resolve) => waiting.set(email, resolve))
        : Promise.resolve(known);
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
