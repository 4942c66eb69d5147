import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ExtractedText, ExtractionError } from '@questline/core/ports';
import { type Answer, createFrameParser, encodeHead } from './frames.ts';
import { describeExcess, type Excess, MIB, type ReadingLimits } from './limits.ts';
import type { DocumentFormat } from './read.ts';

/** A reader in a separate process. It reads one document at a time. */
export interface ReaderProcess {
  /**
   * Resolves with the text. Rejects with an `ExtractionError`, or with the signal's reason: the process is killed at once.
   * @param bytes are not changed.
   */
  read(format: DocumentFormat, bytes: Uint8Array, signal: AbortSignal | undefined): Promise<ExtractedText>;
  /** False: it has ended, or uses so much memory that the next document would have too little. */
  readonly isReusable: boolean;
  /** Resolves when the process is gone. */
  end(): Promise<void>;
}

/** This file: a source, or built as ESM or CommonJS. The reader's file is in the same folder and format. */
const here = typeof __filename === 'string' ? __filename : fileURLToPath(import.meta.url);
const SHELL = '/bin/sh';
/**
 * Runs a program with limits of the operating system: a maximum of data in kilobytes, no core dump; and makes it the
 * first choice of the kernel's OOM killer.
 */
const LIMITING = `ulimit -c 0; ulimit -d "$1" || exit 3; { echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null; shift; exec "$@"`;
/** Data above a reader's limit, in bytes: V8 reserves it without using it. */
const SLACK_BYTES = 64 * MIB;
/** Start timeout in milliseconds. */
const START_MS = 15_000;
/** Characters at the end of standard error that are read. */
const MAX_STDERR = 4096;
const EXCESSES: readonly Excess[] = ['decoded', 'time', 'memory', 'crash'];

interface Reading {
  resolve(text: ExtractedText): void;
  reject(error: unknown): void;
}

/**
 * Starts readers. They get no environment, may write no file and start no program, keep the host alive only while they read,
 * and end with it.
 */
export interface ReaderStarter {
  /** @throws ExtractionError `unavailable` if no process can be started. */
  start(): Promise<ReaderProcess>;
}

/**
 * How much of a reader without work the kernel counts as data differs by a gigabyte between versions of V8, which reserves what
 * it never touches. So the first reader is started without a limit of the operating system, is measured, and reads one document
 * only; all others are started with the limit.
 */
export function createReaderStarter(limits: ReadingLimits): ReaderStarter {
  const isLimited = process.platform === 'linux' && existsSync(SHELL);
  let idleBytes: number | undefined;
  return {
    async start() {
      if (!isLimited) return (await startProcess(limits, {})).reader;
      if (idleBytes !== undefined) {
        const maxDataBytes = idleBytes + limits.maxMemoryBytes + SLACK_BYTES;
        return (await startProcess(limits, { maxDataBytes })).reader;
      }
      const { reader, pid } = await startProcess(limits, { readsOnce: true });
      idleBytes = await readDataBytes(pid);
      return reader;
    },
  };
}

/** @returns undefined if the system does not report it. */
async function readDataBytes(pid: number | undefined): Promise<number | undefined> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'latin1');
    const [, kilobytes] = /^VmData:\s+(\d+) kB$/m.exec(status) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}

function spawnReader(limits: ReadingLimits, maxDataBytes: number | undefined): ChildProcess {
  const heapMb = Math.ceil(limits.maxMemoryBytes / MIB);
  const program = [
    process.execPath,
    '--permission',
    '--allow-fs-read=*',
    '--allow-worker',
    '--no-warnings',
    '--v8-pool-size=1',
    `--max-old-space-size=${heapMb}`,
    join(dirname(here), `reader${extname(here)}`),
    JSON.stringify(limits),
  ];
  const [file = '', ...parameters] =
    maxDataBytes === undefined
      ? program
      : [SHELL, '-c', LIMITING, 'reader', String(Math.ceil(maxDataBytes / 1024)), ...program];
  return spawn(file, parameters, { env: {}, cwd: dirname(here), stdio: 'pipe', windowsHide: true });
}

interface StartedProcess {
  readonly reader: ReaderProcess;
  readonly pid: number | undefined;
}

interface StartOptions {
  /** The limit of the operating system. Bytes. Default: none. */
  readonly maxDataBytes?: number;
  /** Use the process for one document only. Default false. */
  readonly readsOnce?: boolean;
}

function startProcess(
  limits: ReadingLimits,
  { maxDataBytes, readsOnce = false }: StartOptions,
): Promise<StartedProcess> {
  const child = spawnReader(limits, maxDataBytes);
  const parse = createFrameParser<Answer>(limits.maxTextBytes);
  const pipes = [child.stdin, child.stdout, child.stderr] as unknown as readonly Socket[];
  let reading: Reading | undefined;
  let stderr = '';
  let hasEnded = false;
  let isFull = false;

  const setAlive = (isAlive: boolean): void => {
    const verb = isAlive ? 'ref' : 'unref';
    child[verb]();
    for (const pipe of pipes) pipe[verb]();
  };
  const kill = (): void => {
    isFull = true;
    child.kill('SIGKILL');
  };
  const finish = (act: (ended: Reading) => void): void => {
    const ended = reading;
    reading = undefined;
    if (ended === undefined) return;
    setAlive(false);
    act(ended);
  };
  const fail = (error: unknown): void => finish((ended) => ended.reject(error));
  const exceed = (excess: Excess): void => fail(new ExtractionError('limit', describeExcess(excess, limits)));

  const take = (head: Answer, body: Buffer): void => {
    if ('excess' in head) exceed(head.excess);
    else if ('broken' in head) fail(new ExtractionError('unreadable', head.broken));
    else if ('tags' in head) {
      const { tags, rss } = head;
      isFull = readsOnce || rss > limits.maxMemoryBytes / 2;
      finish((ended) => ended.resolve({ text: body.toString('utf8'), ...(tags !== null && { tags }) }));
    }
  };

  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      hasEnded = true;
      exceed(findExcess(stderr));
      resolve();
    });
    // Without a process there is no `close`.
    child.once('error', (error) => {
      hasEnded = true;
      fail(
        new ExtractionError('unavailable', 'no process to read documents can be started', { cause: error }),
      );
      resolve();
    });
  });
  // The process may end during the write: `close` reports the outcome.
  for (const pipe of pipes) pipe.on('error', () => undefined);
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = `${stderr}${chunk.toString('latin1')}`.slice(-MAX_STDERR);
  });

  const reader: ReaderProcess = {
    get isReusable() {
      return !hasEnded && !isFull;
    },
    read(format, bytes, signal) {
      let timer: NodeJS.Timeout | undefined;
      const abort = (): void => {
        kill();
        fail(signal?.reason);
      };
      const text = new Promise<ExtractedText>((resolve, reject) => {
        reading = { resolve, reject };
        if (hasEnded) return fail(new ExtractionError('unavailable', 'the reader has ended'));
        setAlive(true);
        if (signal?.aborted === true) return abort();
        signal?.addEventListener('abort', abort, { once: true });
        timer = setTimeout(() => {
          kill();
          exceed('time');
        }, limits.maxMs);
        child.stdin?.write(encodeHead({ format, size: bytes.byteLength }));
        child.stdin?.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      });
      return text.finally(() => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      });
    },
    end() {
      if (!hasEnded) setAlive(true);
      kill();
      return ended;
    },
  };

  return new Promise<StartedProcess>((resolve, reject) => {
    const giveUp = (cause?: unknown): void => {
      clearTimeout(timer);
      kill();
      reject(new ExtractionError('unavailable', 'no process to read documents can be started', { cause }));
    };
    const timer = setTimeout(giveUp, START_MS);
    void ended.then(() => giveUp(stderr.trim()));
    child.stdout?.on('data', (chunk: Buffer) => {
      try {
        for (const { head, body } of parse(chunk)) {
          if ('ready' in head) {
            clearTimeout(timer);
            setAlive(false);
            resolve({ reader, pid: child.pid });
          } else take(head, body);
        }
      } catch {
        // More text than the limit, or an invalid message.
        kill();
        exceed('text');
      }
    });
  });
}

/** The last output of an ended reader. V8 reports a full heap there. */
function findExcess(stderr: string): Excess {
  const last = stderr.trim().split('\n').at(-1) ?? '';
  const known = EXCESSES.find((excess) => excess === last);
  if (known !== undefined) return known;
  return /out of memory|heap limit|allocation failed|bad_alloc/i.test(stderr) ? 'memory' : 'crash';
}
