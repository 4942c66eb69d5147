import { Console } from 'node:console';
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { setPriority } from 'node:os';
import { extname } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { countDecodedBytes } from './decoded.ts';
import { ExcessError } from './excess.ts';
import { type Answer, createFrameParser, encodeHead, type Task } from './frames.ts';
import type { ReadingLimits } from './limits.ts';
import { readDocument } from './read.ts';
import type { WatchOptions } from './watch.ts';

/* The program of a reader: reads documents from its standard input, one at a time. */

/** Between the normal priority, 0, and the lowest, 19. */
const NICE = 5;
/** After the host's timeout: the host acts first. */
const GRACE_MS = 2000;
const MAX_TAGS = 100;
const MAX_TAG_CHARACTERS = 200;
const MAX_REASON_CHARACTERS = 500;
/** Characters per message. */
const PIECE_CHARACTERS = 65_536;
const STDERR = 2;

/** This file: a source, or built as ESM or CommonJS. The watch thread's file is in the same folder. */
const here = typeof __filename === 'string' ? __filename : fileURLToPath(import.meta.url);
const limits = JSON.parse(process.argv[2] ?? '{}') as ReadingLimits;
const turns = new Int32Array(new SharedArrayBuffer(4));

const nextTurn = (): void => {
  Atomics.add(turns, 0, 1);
  Atomics.notify(turns, 0);
};

/** Resolves when the watch thread runs. */
const startWatch = async (): Promise<void> => {
  const { maxMemoryBytes, maxMs } = limits;
  const watch: WatchOptions = { turns, maxMemoryBytes, maxMs: maxMs + GRACE_MS, host: process.ppid };
  const thread = new Worker(new URL(`./watch${extname(here)}`, pathToFileURL(here)), {
    workerData: watch,
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 },
  });
  // Do not read without the watch thread.
  thread.on('exit', () => process.exit(1));
  await once(thread, 'online');
  thread.unref();
};

const resetDecoded = countDecodedBytes(limits.maxDecodedBytes, () => {
  writeSync(STDERR, '\ndecoded\n');
  process.exit(1);
});

const send = (chunk: string | Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(chunk, (error) => (error ? reject(error) : resolve()));
  });

async function answer({ format }: Task, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  let head: Answer;
  let text = '';
  try {
    const found = await readDocument(format, bytes, limits);
    text = found.text;
    head = {
      tags: found.tags?.slice(0, MAX_TAGS).map((tag) => tag.slice(0, MAX_TAG_CHARACTERS)) ?? null,
      rss: process.memoryUsage.rss(),
      size: Buffer.byteLength(text),
    };
  } catch (error) {
    head = { ...describeFailure(error), size: 0 };
  }
  await send(encodeHead(head));
  let from = 0;
  while (from < text.length) {
    // Do not split a surrogate pair.
    const isCut = (text.charCodeAt(from + PIECE_CHARACTERS - 1) & 0xfc00) === 0xd800;
    const to = from + PIECE_CHARACTERS - (isCut ? 1 : 0);
    await send(text.slice(from, to));
    from = to;
  }
}

/** Parsers throw many kinds of errors; only the message is used. */
function describeFailure(
  error: unknown,
): { excess: 'memory' } | Pick<ExcessError, 'excess'> | { broken: string } {
  if (error instanceof ExcessError) return { excess: error.excess };
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof RangeError && /allocation|array (buffer )?length|string length/i.test(message)) {
    return { excess: 'memory' };
  }
  return { broken: message.slice(0, MAX_REASON_CHARACTERS) };
}

async function run(): Promise<void> {
  const parse = createFrameParser<Task>(Number.MAX_SAFE_INTEGER);
  await send(encodeHead({ ready: true, size: 0 }));
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    for (const { head, body } of parse(chunk)) {
      nextTurn();
      resetDecoded();
      await answer(head, new Uint8Array(body.buffer as ArrayBuffer, body.byteOffset, body.byteLength));
      nextTurn();
    }
  }
}

// Standard output is for messages only, not for output of parsers.
globalThis.console = new Console(new Writable({ write: (_chunk, _encoding, done) => done() }));
// A parser may leave a rejected promise; the document has its result already.
process.on('unhandledRejection', () => undefined);
try {
  // Lower priority than the host, but not so low that a busy machine delays small documents.
  setPriority(NICE);
} catch {
  // Not permitted on this system: keep the normal priority.
}
startWatch()
  .then(run)
  .then(
    () => process.exit(0),
    () => process.exit(1),
  );
