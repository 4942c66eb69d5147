import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { encodeZip } from '../../../../../../test/support/samples.ts';
import { makeFile } from '../../../../test/checked-file.ts';
import type { FileToCheck } from '../../../ports/moderator.ts';
import { createArchiveInspection } from './archives.ts';

const HELLO = Buffer.from('hello');
const BROKEN = 'an archive that cannot be opened';
const zip = (content: Uint8Array) => encodeZip([{ name: 'a', content }]);
const inspect = createArchiveInspection();
const find = (content: Uint8Array, signal: AbortSignal) =>
  inspect(makeFile(content, 'application/zip'), { signal });
const pad = (bytes: Uint8Array, size: number) =>
  Buffer.concat([bytes, Buffer.alloc(Math.max(0, size - bytes.length))]);
/** Bytes that do not shrink. */
const makeNoise = (size: number) => Buffer.alloc(size).map((_, at) => (at * at * 7919) % 251);

describe('the inspection', () => {
  it('fails if the file cannot be read', async () => {
    const file = makeFile(gzipSync(HELLO), 'application/gzip');
    async function* broken() {
      yield new Uint8Array(0);
      throw new Error('away');
    }
    await expect(inspect({ ...file, stream: broken }, {})).rejects.toThrow('away');
    const away = Object.assign(new Error('away'), { code: 'EIO' });
    const archive = makeFile(zip(HELLO), 'application/zip');
    const read = (from: number, to: number) =>
      to - from > 4 ? Promise.reject(away) : archive.read(from, to);
    await expect(inspect({ ...archive, read }, {})).rejects.toThrow('away');
    const refuse = (from: number, to: number) =>
      to - from > 4 ? Promise.reject('away') : archive.read(from, to);
    await expect(inspect({ ...archive, read: refuse }, {})).rejects.toBe('away');
  });

  it('ends with its signal', async () => {
    const signal = AbortSignal.abort(new Error('stopped'));
    for (const content of [gzipSync(HELLO), zip(HELLO), zip(HELLO).subarray(0, 40)]) {
      await expect(find(content, signal)).rejects.toThrow('stopped');
    }
  });

  it('closes the file at every end', async () => {
    let closed = 0;
    const watch = (content: Uint8Array) => {
      // Most of its bytes are neither needed nor read ahead.
      const file = makeFile(pad(content, 2_000_000), 'application/gzip');
      async function* stream() {
        try {
          yield* file.stream();
        } finally {
          closed += 1;
        }
      }
      return { ...file, size: 40_000, stream };
    };
    expect(await inspect(watch(gzipSync(Buffer.alloc(17 * 2 ** 20))), {})).toMatch(/grows beyond/);
    await turn();
    expect(closed).toBe(1);
    const broken = gzipSync(makeNoise(9000)).fill(7, 20, 60);
    expect(await inspect(watch(broken), {})).toBe(BROKEN);
    await turn();
    expect(closed).toBe(2);
  });
});

describe('nested archives', () => {
  /** Waits for what was decompressed meanwhile: the threads that do it take their work in turn. */
  async function settle(): Promise<void> {
    const bytes = gzipSync(makeNoise(60_000));
    for (let time = 0; time < 20; time += 1) {
      await promisify(gunzip)(bytes);
      await turn();
    }
  }

  /** A file of two archives whose last bytes come when they are let go. */
  function holdBack() {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const bytes = gzipSync(gzipSync(makeNoise(60_000)));
    async function* stream() {
      yield bytes.subarray(0, -30);
      await opened;
      yield bytes.subarray(-30);
    }
    return { file: { ...makeFile(bytes, 'application/gzip'), stream }, open };
  }

  it('are held one at a time, others than plain ones', async () => {
    const inspection = createArchiveInspection();
    const done: string[] = [];
    const begin = (name: string, file: FileToCheck, signal?: AbortSignal) =>
      inspection(file, { ...(signal && { signal }) }).then((reason) =>
        done.push(`${name} ${reason ?? 'clean'}`),
      );
    const first = holdBack();
    const one = begin('first', first.file);
    await settle();
    const nested = makeFile(zip(zip(HELLO)), 'application/zip');
    const two = begin('second', nested);
    const stop = new AbortController();
    const three = begin('third', makeFile(gzipSync(gzipSync(HELLO)), 'application/gzip'), stop.signal);
    await begin('plain', makeFile(gzipSync(HELLO), 'application/gzip'));
    await settle();
    expect(done).toEqual(['plain clean']);
    stop.abort(new Error('stopped'));
    await expect(three).rejects.toThrow('stopped');
    first.open();
    await Promise.all([one, two]);
    expect(done).toEqual(['plain clean', 'first clean', 'second clean']);
  });

  it('are let go at every end', async () => {
    const inspection = createArchiveInspection();
    const broken = gzipSync(gzipSync(makeNoise(9000)).fill(7, 20, 60));
    const found = await Promise.all(
      [zip(zip(HELLO)), broken, gzipSync(gzipSync(HELLO)), broken].map((one) =>
        inspection(makeFile(one, 'application/zip'), {}),
      ),
    );
    expect(found).toEqual([undefined, BROKEN, undefined, BROKEN]);
  });
});
