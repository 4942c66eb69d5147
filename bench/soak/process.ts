import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { FromServer, Sample } from './server.child.ts';

/** The server under load, in a separate process. */
export interface ServerProcess {
  readonly url: string;
  readonly demo: { readonly email: string; readonly key: string };
  sample(): Promise<Sample>;
  /** The sign-in code for the address, which the server prints. */
  codeFor(email: string): Promise<string>;
  /** @returns milliseconds until the server stopped, and then until the process exited. */
  stop(): Promise<{ readonly stopMs: number; readonly endMs: number }>;
}

const STOP_WITHIN_MS = 60_000;

/** @param log file for its output. */
export async function startProcess(
  environment: Readonly<Record<string, string>>,
  log: string,
): Promise<ServerProcess> {
  const child: ChildProcess = fork(join(import.meta.dirname, 'server.child.ts'), {
    execArgv: ['--conditions=@questline/source', '--disable-warning=ExperimentalWarning', '--expose-gc'],
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const output = createWriteStream(log);
  child.stdout?.pipe(output, { end: false });
  child.stderr?.pipe(output, { end: false });
  const exited = once(child, 'exit');
  const codes = new Map<string, (code: string) => void>();
  const early = new Map<string, string>();
  const waiting: ((message: FromServer) => void)[] = [];

  child.on('message', (message: FromServer) => {
    if (!('print' in message)) return waiting.shift()?.(message);
    const [, email = '', code = ''] = /Mail for (\S+): .* is (\d{6})\./.exec(message.print) ?? [];
    const tell = codes.get(email);
    codes.delete(email);
    if (tell === undefined) early.set(email, code);
    else tell(code);
  });
  /** Responses are in the order of the requests. */
  const answer = (): Promise<FromServer> =>
    Promise.race([
      new Promise<FromServer>((resolve) => waiting.push(resolve)),
      exited.then(([code]) => {
        throw new Error(`the server ended with ${code}; see ${log}`);
      }),
    ]);

  const first = await answer();
  if (!('url' in first)) throw new Error('the server did not print its address');
  return {
    ...first,
    async sample() {
      const reply = answer();
      child.send('sample');
      const message = await reply;
      if (!('sample' in message)) throw new Error('expected a sample');
      return message.sample;
    },
    codeFor(email) {
      const known = early.get(email);
      early.delete(email);
      return known === undefined
        ? new Promise((resolve) => codes.set(email, resolve))
        : Promise.resolve(known);
    },
    async stop() {
      const reply = answer();
      child.send('stop');
      const message = await reply;
      if (!('stoppedWithin' in message)) throw new Error('expected the server to stop');
      const began = performance.now();
      const isOver = await Promise.race([
        exited.then(() => true),
        pause(STOP_WITHIN_MS, false, { ref: false }),
      ]);
      if (!isOver) child.kill('SIGKILL');
      output.end();
      return { stopMs: message.stoppedWithin, endMs: performance.now() - began };
    },
  };
}
