import { describe, expect, it } from 'vitest';
import { settle } from '../../../test/delayed.ts';
import { ADA, ID, setUp } from '../../../test/document-reader.ts';
import type { ReadDocumentOptions } from './documents.ts';
import type { FileRecord } from './records.ts';

const NONE = { readAttempts: undefined, readRefusal: undefined };
const PLAIN = { mimeType: 'text/plain' };

describe('the slots of documents', () => {
  /** A reader whose extractions end when they are let go. */
  const hold = async (about: Partial<FileRecord> = {}) => {
    const ends: (() => void)[] = [];
    const set = await setUp(() => new Promise((resolve) => ends.push(() => resolve({ text: 'read' }))));
    const first = set.read(ADA, about);
    await settle();
    return { ...set, ends, first };
  };

  it('are busy for the same owner, and free again afterwards', async () => {
    const { read, ends, first } = await hold();
    expect(await read({ ...ADA, waits: false })).toEqual({ status: 'busy' });
    const bob = read({ owner: 'bob', waits: false });
    const waiting = read();
    await settle();
    expect(ends).toHaveLength(2);
    for (const end of ends) end();
    expect([await first, await bob]).toMatchObject([{ status: 'read' }, { status: 'read' }]);
    await settle();
    ends[2]?.();
    expect(await waiting).toMatchObject({ status: 'read' });
    const last = read({ ...ADA, waits: false });
    await settle();
    ends[3]?.();
    expect(await last).toMatchObject({ status: 'read' });
  });

  it('are left with the signal while a document waits', async () => {
    const { read } = await hold();
    const stop = new AbortController();
    const waiting = read({ ...ADA, signal: stop.signal });
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
  });

  it('look at the attempts again after a wait', async () => {
    const { files, read, ends, first } = await hold();
    const waiting = read();
    ends[0]?.();
    await first;
    await files.update(ID, { readAttempts: 3 });
    expect(await waiting).toMatchObject({ status: 'refused' });
  });

  it('are shared with documents of requests, which have no attempts', async () => {
    const { documents, ends, first, attempts } = await hold();
    const type = { mimeType: 'text/x', name: 'a.x' };
    const readBytes = (more: Partial<ReadDocumentOptions> = {}, mimeType = type.mimeType) =>
      documents.readBytes(Buffer.from('sent'), { ...type, mimeType }, { ...ADA, ...more });
    expect(await readBytes({ waits: false })).toEqual({ status: 'busy' });
    const waiting = readBytes();
    const plain = readBytes({ waits: false }, 'text/plain');
    await settle();
    expect(ends).toHaveLength(2);
    for (const end of ends) end();
    expect(await first).toMatchObject({ status: 'read' });
    expect(await plain).toEqual({ status: 'read', text: 'read' });
    await settle();
    ends[2]?.();
    expect(await waiting).toEqual({ status: 'read', text: 'read' });
    expect(await attempts()).toEqual(NONE);
    expect(await readBytes({}, 'text/y')).toEqual({ status: 'unsupported' });
    const free = readBytes({ waits: false });
    await settle();
    ends[3]?.();
    expect(await free).toMatchObject({ status: 'read' });
  });

  it('of plain text are others, and count no attempts', async () => {
    const { read, ends, attempts } = await hold();
    const plain = read({ ...ADA, waits: false }, PLAIN);
    await settle();
    expect(ends).toHaveLength(2);
    expect(await attempts()).toEqual({ ...NONE, readAttempts: 1 });
    ends[1]?.();
    expect(await plain).toMatchObject({ status: 'read' });
    expect(await attempts()).toEqual({ ...NONE, readAttempts: 1 });
  });

  it('of plain text need no record', async () => {
    const { files, read, ends } = await hold();
    await files.take(ID);
    const plain = read(ADA, PLAIN);
    await settle();
    ends[1]?.();
    expect(await plain).toMatchObject({ status: 'read' });
  });

  it('of plain text are waited for', async () => {
    const { read, ends, first } = await hold(PLAIN);
    const stop = new AbortController();
    const stopped = read({ ...ADA, signal: stop.signal }, PLAIN);
    stop.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
    const waiting = read({ ...ADA, waits: false }, PLAIN);
    await settle();
    expect(ends).toHaveLength(1);
    ends[0]?.();
    await first;
    await settle();
    ends[1]?.();
    expect(await waiting).toMatchObject({ status: 'read' });
  });
});
