import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { settle } from '../../../test/delayed.ts';
import { ID, setUp } from '../../../test/upload-scan.ts';
import type { FileToCheck, Moderator } from '../../ports/moderator.ts';
import type { ObjectStore } from '../../ports/objects.ts';

const CLEAN = { status: 'clean', bytes: 5, keys: [`files/${ID}/1`] };
const BLOCKED = { status: 'blocked', bytes: 0, keys: [] };
const failing: Moderator = { check: () => Promise.reject(new Error('away')) };

describe('the check of an upload', () => {
  it.each(['pending', 'scanning'] as const)('serves a copy of a %s file', async (status) => {
    const { files, memory, run, read, reported } = await setUp({ file: { status } });
    expect(await run()).toBeUndefined();
    expect(await read()).toEqual(CLEAN);
    expect((await files.get(ID))?.objectKey).toBe(`files/${ID}/1`);
    expect(await memory.head(`files/${ID}/1`)).toMatchObject({ contentType: 'text/plain', size: 5 });
    expect(reported()).toEqual([]);
  });

  it('deletes the copies of runs that were interrupted', async () => {
    const { memory, run, read } = await setUp();
    for (const fence of [1, 2])
      await memory.put(`files/${ID}/${fence}`, Buffer.from('he'), { contentType: 'text/plain' });
    await run(3);
    expect(await read()).toEqual({ ...CLEAN, keys: [`files/${ID}/3`] });
  });

  it.each([
    ['another size', { content: 'hello!' }],
    ['another type', { contentType: 'text/html' }],
  ])('blocks a file of %s than announced, and closes its bytes', async (_, given) => {
    let isClosed = false;
    const change = (memory: ObjectStore): Partial<ObjectStore> => ({
      async get(...asked) {
        const content = await memory.get(...asked);
        if (content === undefined) return undefined;
        const iterator = content.body[Symbol.asyncIterator]();
        const close = async () => {
          await settle();
          isClosed = true;
          return { done: true as const, value: undefined };
        };
        return { ...content, body: { [Symbol.asyncIterator]: () => ({ ...iterator, return: close }) } };
      },
    });
    const { run, read, reported } = await setUp({ ...given, change });
    expect(await run()).toBeUndefined();
    expect(await read()).toEqual(BLOCKED);
    const reason = 'the size or type differs from the announcement';
    expect(reported()).toEqual([['files.blocked', `the file ${ID} was blocked: ${reason}`]]);
    expect(isClosed).toBe(true);
  });

  it('passes its signal on', async () => {
    const signals: unknown[] = [];
    const { handler, run } = await setUp({
      moderator: {
        async check(file, options) {
          await file.read(0, 1);
          signals.push(options);
          return { isClean: true };
        },
      },
      change: (memory) => ({
        get(key, range, options) {
          signals.push(options);
          return memory.get(key, range, options);
        },
        put(key, body, about, options) {
          signals.push(options);
          return memory.put(key, body, about, options);
        },
      }),
    });
    const { signal } = new AbortController();
    await run(1, signal);
    expect(signals).toEqual(Array(4).fill({ signal }));
    expect([handler.kind, handler.concurrency]).toEqual(['files.scan', 4]);
  });

  it('fails if fewer bytes arrive than the store says', async () => {
    const { run, read } = await setUp({
      change: (memory) => ({
        async get(...given) {
          const content = await memory.get(...given);
          return content && { ...content, body: Readable.from([Buffer.from('hell')]) };
        },
      }),
    });
    expect(await run()).toEqual({ afterMs: 2000, countAttempt: false });
    expect(await read()).toMatchObject({ status: 'scanning', keys: [`uploads/${ID}`] });
  });

  it('opens no file that another run decides while the bytes are gone', async () => {
    const opened: Awaited<ReturnType<typeof setUp>> = await setUp({
      change: () => ({
        async get() {
          await opened.files.update(ID, { status: 'blocked' });
          return undefined;
        },
      }),
    });
    await opened.run();
    expect(await opened.read()).toMatchObject({ status: 'blocked' });
  });

  it('waits for the bytes of an upload that is not there', async () => {
    const { memory, run, read } = await setUp();
    await memory.remove(`uploads/${ID}`);
    expect(await run()).toBeUndefined();
    expect(await read()).toEqual({ status: 'pending', bytes: 5, keys: [] });
  });

  it.each(['clean', 'blocked'] as const)('changes nothing of a %s file', async (status) => {
    const { run, read } = await setUp({ moderator: failing, file: { status } });
    expect(await run()).toBeUndefined();
    expect(await read()).toEqual({ status, bytes: 5, keys: [`uploads/${ID}`] });
  });

  it('shows the moderator the file, its bytes and any part of them', async () => {
    let seen: unknown;
    const check: Moderator['check'] = async (file: FileToCheck) => {
      const parts: Uint8Array[] = [];
      for await (const part of file.stream()) parts.push(part);
      const reads = await Promise.all(
        [
          [0, 2],
          [3, 9],
          [5, 6],
          [4, 4],
          [3, 2],
        ].map(async ([start = 0, end = 0]) => Buffer.from(await file.read(start, end)).toString()),
      );
      const { name, mimeType, size, owner } = file;
      seen = { name, mimeType, size, owner, all: Buffer.concat(parts).toString(), reads };
      return { isClean: true };
    };
    const { run } = await setUp({ moderator: { check } });
    await run();
    const about = { name: 'a.txt', mimeType: 'text/plain', size: 5, owner: 'ada' };
    expect(seen).toEqual({ ...about, all: 'hello', reads: ['he', 'lo', '', '', ''] });
  });

  it('fails if the copy is gone while it is checked', async () => {
    const { files, memory, run, reported } = await setUp({
      moderator: {
        async check(file) {
          await memory.remove(`files/${ID}/1`);
          await file.read(0, 1);
          return { isClean: true };
        },
      },
    });
    expect(await run()).toEqual({ afterMs: 2000, countAttempt: false });
    expect(reported()).toEqual([['job:files.scan', 'the copy that is being checked is gone']]);
    expect(await files.get(ID)).toMatchObject({ status: 'scanning', failures: 1 });
  });
});
