import { Readable } from 'node:stream';
import { createGunzip, createInflateRaw } from 'node:zlib';
import type { FileToCheck } from '../../../ports/moderator.ts';
import type { CallOptions } from '../../../ports/options.ts';
import { createOwnerTurns, type OwnerTurns } from '../owner-turns.ts';
import type { Inspection } from './verdicts.ts';
import { getEntries, type RandomAccess } from './zip.ts';

/** Maximum extracted bytes of an archive, all levels together. */
const MAX_EXPANDED = 512 * 2 ** 20;
/** Text can shrink to a hundredth; legitimate content rarely shrinks further. */
const MAX_RATIO = 250;
/** The ratio is checked above this size. */
const SMALL = 16 * 2 ** 20;
const MAX_ENTRIES = 20_000;
/** Maximum nesting of archives. */
const MAX_DEPTH = 2;
/** A nested archive is held in memory. */
const MAX_NESTED = 64 * 2 ** 20;

interface Budget {
  readonly packed: number;
  expanded: number;
  entries: number;
  /** Mutex for nested archives: those of one file at a time in this process. */
  readonly holding: OwnerTurns;
}

class Bomb extends Error {
  override readonly name = 'Bomb';
}

/**
 * Detects decompression bombs. Ignores the sizes that archives declare. For any number of concurrent checks, at most
 * 64 MiB per nesting level are held in memory.
 */
export function createArchiveInspection(): Inspection {
  const holding = createOwnerTurns({ slots: 1 });
  return (file, options) => findArchiveBomb(file, options, holding);
}

async function findArchiveBomb(
  file: FileToCheck,
  { signal }: CallOptions,
  holding: OwnerTurns,
): Promise<string | undefined> {
  const head = Buffer.from(await file.read(0, 4));
  const budget: Budget = { packed: file.size, expanded: 0, entries: 0, holding };
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
}

async function openZip(
  archive: RandomAccess,
  budget: Budget,
  depth: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  let packed = 0;
  for await (const entry of getEntries(archive)) {
    signal?.throwIfAborted();
    budget.entries += 1;
    if (budget.entries > MAX_ENTRIES) throw new Bomb(`an archive of more than ${MAX_ENTRIES} entries`);
    // Entries that share bytes: the total can grow with the square of the size.
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

/** Counts the extracted bytes, and checks them as an archive if they are one. */
async function openInside(
  content: AsyncIterable<Uint8Array>,
  budget: Budget,
  depth: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const held: Uint8Array[] = [];
  let size = 0;
  let isNested = false;
  let release: (() => void) | undefined;
  try {
    for await (const chunk of content) {
      signal?.throwIfAborted();
      if (size === 0) isNested = isZip(chunk) || isGzip(chunk);
      // Deeper levels belong to the same file.
      if (isNested && depth === 0) release ??= await budget.holding.take('', { signal });
      size += chunk.length;
      spend(budget, chunk.length);
      if (isNested && size > MAX_NESTED) throw new Bomb('a large archive inside of an archive');
      if (isNested) held.push(chunk);
    }
    const [first] = held;
    if (first === undefined) return;
    if (depth >= MAX_DEPTH) throw new Bomb('archives inside of archives inside of archives');
    if (isGzip(first)) await openGzip(Readable.from(held), budget, depth + 1, signal);
    else
      await openZip({ size, read: async (start, end) => slice(held, start, end) }, budget, depth + 1, signal);
  } finally {
    release?.();
  }
}

/** Returns the bytes from `start` to `end`, exclusive, without joining the pieces. */
function slice(pieces: readonly Uint8Array[], start: number, end: number): Uint8Array {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const piece of pieces) {
    if (at >= end) break;
    if (at + piece.length > start) parts.push(piece.subarray(Math.max(0, start - at), end - at));
    at += piece.length;
  }
  return Buffer.concat(parts);
}

function spend(budget: Budget, bytes: number): void {
  budget.expanded += bytes;
  const { expanded, packed } = budget;
  if (expanded > MAX_EXPANDED || (expanded > SMALL && expanded > packed * MAX_RATIO)) {
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
  }
}

function isZip(head: Uint8Array): boolean {
  return head[0] === 0x50 && head[1] === 0x4b && (head[2] === 3 || head[2] === 5);
}

function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b && head[2] === 8;
}

/** Error codes of zlib and of our reader for invalid archives. */
function isBroken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error instanceof RangeError || ('code' in error && /^Z_|^ERR_BUFFER/.test(String(error.code)));
}
