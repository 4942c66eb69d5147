import { Readable } from 'node:stream';
import { createGunzip, createInflateRaw } from 'node:zlib';
import type { Inspection } from './verdicts.ts';
import { entriesOf, type RandomAccess } from './zip.ts';

/** Bytes that come out of an archive, all levels together. */
const MOST_EXPANDED = 512 * 2 ** 20;
/** Text can shrink to a hundredth; nothing honest shrinks much further. */
const MOST_RATIO = 250;
/** From here on the ratio counts. */
const SMALL = 16 * 2 ** 20;
const MOST_ENTRIES = 20_000;
/** Archives in archives in archives. */
const DEEPEST = 2;
/** An archive inside of another is held for a moment. */
const MOST_NESTED = 64 * 2 ** 20;

interface Budget {
  readonly packed: number;
  expanded: number;
  entries: number;
}

class Bomb extends Error {
  override readonly name = 'Bomb';
}

/** An archive that grows beyond all measure when it is opened. Nothing is believed of what it says of its sizes. */
export const findArchiveBomb: Inspection = async (file, { signal }) => {
  const head = Buffer.from(await file.read(0, 4));
  const budget: Budget = { packed: file.size, expanded: 0, entries: 0 };
  try {
    if (isZip(head)) await openZip(file, budget, 0, signal);
    else if (isGzip(head)) await openGzip(file.stream(), budget, 0, signal);
    return undefined;
  } catch (error) {
    if (error instanceof Bomb) return error.message;
    signal?.throwIfAborted();
    if (isBroken(error)) return 'an archive that cannot be opened';
    throw error;
  }
};

async function openZip(
  archive: RandomAccess,
  budget: Budget,
  depth: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  let packed = 0;
  for await (const entry of entriesOf(archive)) {
    signal?.throwIfAborted();
    budget.entries += 1;
    if (budget.entries > MOST_ENTRIES) throw new Bomb(`an archive of more than ${MOST_ENTRIES} entries`);
    // Entries that share their bytes: the whole can grow with the square of its size.
    packed += entry.packedSize;
    if (packed > archive.size) throw new Bomb('an archive whose entries overlap');
    if (entry.isEncrypted) continue;
    if (entry.method === 0) await openInside(entry.packed(), budget, depth, signal);
    else if (entry.method === 8) await openInside(inflated(entry.packed()), budget, depth, signal);
  }
}

function inflated(packed: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return piped(packed, createInflateRaw());
}

async function openGzip(
  packed: AsyncIterable<Uint8Array>,
  budget: Budget,
  depth: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  await openInside(piped(packed, createGunzip()), budget, depth, signal);
}

/** Counts what comes out, and opens it in turn when it is an archive itself. */
async function openInside(
  content: AsyncIterable<Uint8Array>,
  budget: Budget,
  depth: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const held: Uint8Array[] = [];
  let size = 0;
  let isNested = false;
  for await (const chunk of content) {
    signal?.throwIfAborted();
    if (size === 0) isNested = isZip(chunk) || isGzip(chunk);
    size += chunk.length;
    spend(budget, chunk.length);
    if (isNested && size > MOST_NESTED) throw new Bomb('a large archive inside of an archive');
    if (isNested) held.push(chunk);
  }
  if (!isNested) return;
  if (depth >= DEEPEST) throw new Bomb('archives inside of archives inside of archives');
  const bytes = Buffer.concat(held);
  if (isGzip(bytes)) return openGzip(Readable.from([bytes]), budget, depth + 1, signal);
  const inner = {
    size: bytes.length,
    read: async (start: number, end: number) => bytes.subarray(start, end),
  };
  return openZip(inner, budget, depth + 1, signal);
}

function spend(budget: Budget, bytes: number): void {
  budget.expanded += bytes;
  const { expanded, packed } = budget;
  if (expanded > MOST_EXPANDED || (expanded > SMALL && expanded > packed * MOST_RATIO)) {
    throw new Bomb(`an archive of ${packed} bytes that grows beyond ${expanded}`);
  }
}

async function* piped(
  packed: AsyncIterable<Uint8Array>,
  stream: ReturnType<typeof createGunzip> | ReturnType<typeof createInflateRaw>,
): AsyncGenerator<Uint8Array> {
  const source = Readable.from(packed);
  source.on('error', (error) => stream.destroy(error));
  try {
    yield* source.pipe(stream);
  } finally {
    source.destroy();
    stream.destroy();
  }
}

function isZip(head: Uint8Array): boolean {
  return head[0] === 0x50 && head[1] === 0x4b && (head[2] === 3 || head[2] === 5);
}

function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b && head[2] === 8;
}

/** What zlib and our own reader say of bytes that are no archive. */
function isBroken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error instanceof RangeError || ('code' in error && /^Z_|^ERR_BUFFER/.test(String(error.code)));
}
