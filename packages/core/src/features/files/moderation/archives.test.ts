import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { encodeZip, overlappingZip } from '../../../../../../test/support/samples.ts';
import { makeFile } from '../../../../test/checked-file.ts';
import { createArchiveInspection } from './archives.ts';

const MIB = 2 ** 20;
const inspect = (...given: Parameters<ReturnType<typeof createArchiveInspection>>) =>
  createArchiveInspection()(...given);
const find = (content: Uint8Array, signal?: AbortSignal) =>
  inspect(makeFile(content, 'application/zip', 50_000), signal === undefined ? {} : { signal });
const zip = (content: Uint8Array, name = 'a') => encodeZip([{ name, content }]);
const HELLO = Buffer.from('hello');
/** Bytes that do not shrink. */
const makeNoise = (size: number) => Buffer.alloc(size).map((_, at) => (at * at * 7919) % 251);
const BOMB = /^an archive of \d+ bytes that grows beyond \d+$/;
const TOO_DEEP = 'archives inside of archives inside of archives';
const BROKEN = 'an archive that cannot be opened';

const MEMBER = gzipSync(Buffer.alloc(MIB));
/** Zeros in GZIP, which shrink to a thousandth. */
const packZeros = (mebibytes: number) => Buffer.concat(Array<Uint8Array>(mebibytes).fill(MEMBER));
const GZIP_BOMB = packZeros(17);
const ZIP_BOMB = zip(Buffer.alloc(17 * MIB));
const pad = (bytes: Uint8Array, size: number) => Buffer.concat([bytes, Buffer.alloc(size - bytes.length)]);

/** Changes bytes at a mark. */
function patch(archive: Uint8Array, mark: string, offset: number, ...values: number[]): Buffer {
  const bytes = Buffer.from(archive);
  bytes.set(values, bytes.indexOf(mark, 0, 'latin1') + offset);
  return bytes;
}

/** An archive of encrypted entries without bytes. */
function emptyZip(count: number): Buffer {
  const bytes = overlappingZip(count, new Uint8Array(0));
  const start = bytes.indexOf('PK\x01\x02', 0, 'latin1');
  for (let at = start; at < bytes.length - 22; at += 47) {
    bytes.writeUInt16LE(1, at + 8);
    bytes.writeUInt32LE(0, at + 20);
  }
  return bytes;
}

const ZEROS = Buffer.alloc(65_536);

/** An archive with one entry that is not packed: some bytes and zeros behind them, which need no memory. */
function storeZip(content: Uint8Array, size: number) {
  const head = Buffer.concat([Buffer.alloc(30), content]);
  head.write('PK\x03\x04', 'latin1');
  const entry = Buffer.alloc(46);
  entry.write('PK\x01\x02', 'latin1');
  entry.writeUInt32LE(size, 20);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt32LE(46, 12);
  end.writeUInt32LE(30 + size, 16);
  const parts = [
    [0, head],
    [30 + size, Buffer.concat([entry, end])],
  ] as const;
  const read = async (from: number, to: number) => {
    if (from >= head.length && to <= 30 + size) return ZEROS.subarray(0, to - from);
    const bytes = Buffer.alloc(to - from);
    for (const [place, part] of parts) {
      if (place < to && place + part.length > from)
        part.copy(bytes, Math.max(0, place - from), Math.max(0, from - place));
    }
    return bytes;
  };
  return { ...makeFile('', 'application/zip'), size: 30 + size + 46 + 22, read };
}

describe('an archive', () => {
  it('has no entries that overlap', async () => {
    expect(await find(overlappingZip(2, makeNoise(1000)))).toBe('an archive whose entries overlap');
    // As many bytes as the archive has.
    const archive = encodeZip([{ name: 'a', content: HELLO }]);
    const encrypted = patch(archive, 'PK\x01\x02', 8, 1, 0);
    const claim = (size: number) => patch(encrypted, 'PK\x01\x02', 20, size, 0, 0, 0);
    expect(await find(claim(archive.length))).toBeUndefined();
    expect(await find(claim(archive.length + 1))).toBe('an archive whose entries overlap');
  });

  it('may have entries that are encrypted, or packed in unknown ways', async () => {
    expect(await find(ZIP_BOMB)).toMatch(BOMB);
    expect(await find(patch(ZIP_BOMB, 'PK\x01\x02', 8, 1, 0))).toBeUndefined();
    expect(await find(patch(ZIP_BOMB, 'PK\x01\x02', 10, 12, 0))).toBeUndefined();
    expect(await find(patch(ZIP_BOMB, 'PK\x01\x02', 10, 0, 0))).toBeUndefined();
  });

  it('inside of another one is opened', async () => {
    expect(await find(zip(ZIP_BOMB))).toMatch(BOMB);
    expect(await find(zip(GZIP_BOMB))).toMatch(BOMB);
    expect(await find(gzipSync(ZIP_BOMB))).toMatch(BOMB);
    const noise = { name: 'noise', content: makeNoise(70_000) };
    expect(await find(zip(encodeZip([noise, { name: 'a', content: ZIP_BOMB }, noise])))).toMatch(BOMB);
    expect(await find(zip(encodeZip([noise, { name: 'a', content: zip(HELLO) }, noise])))).toBeUndefined();
  });

  it('inside of another one is read across its pieces', async () => {
    let state = 1;
    const content = Buffer.alloc(100_000).map(() => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return state >>> 24;
    });
    const noise = { name: 'noise', content };
    expect(encodeZip([noise]).length).toBeGreaterThan(100_000);
    expect(await find(zip(encodeZip([noise, { name: 'a', content: HELLO }, noise])))).toBeUndefined();
    const nested = zip(zip(HELLO));
    expect(await find(zip(encodeZip([noise, { name: 'a', content: nested }, noise])))).toBe(TOO_DEEP);
  });

  it('may be nested twice', async () => {
    const twice = zip(zip(zip(HELLO)));
    expect(await find(twice)).toBeUndefined();
    expect(await find(zip(twice))).toBe(TOO_DEEP);
    const packed = gzipSync(gzipSync(gzipSync(HELLO)));
    expect(await find(packed)).toBeUndefined();
    expect(await find(gzipSync(packed))).toBe(TOO_DEEP);
  });

  it('is known by its first bytes', async () => {
    expect(await find(patch(ZIP_BOMB, 'PK\x03\x04', 2, 5))).toMatch(BOMB);
    for (const place of [0, 1, 2]) {
      expect(await find(patch(ZIP_BOMB, 'PK\x03\x04', place, 4))).toBeUndefined();
      expect(await find(patch(GZIP_BOMB, '\x1f\x8b', place, 4))).toBeUndefined();
    }
  });

  it('that is broken is refused', async () => {
    const archive = zip(Buffer.from('hello'.repeat(100)));
    expect(await find(archive.subarray(0, 40))).toBe(BROKEN);
    expect(await find(patch(archive, 'PK\x03\x04', 31, 0xff, 0xff, 0xff))).toBe(BROKEN);
    expect(await find(gzipSync(HELLO).subarray(0, 15))).toBe(BROKEN);
  });
});

it('an archive is listed until the signal, also without an entry to open', async () => {
  const signal = AbortSignal.abort(new Error('stopped'));
  expect(await find(emptyZip(1))).toBeUndefined();
  await expect(find(emptyZip(1), signal)).rejects.toThrow('stopped');
});

describe('a large archive', () => {
  it('may grow to 16 MiB by any ratio, and further by 250', async () => {
    expect(await find(packZeros(16))).toBeUndefined();
    expect(await find(GZIP_BOMB)).toMatch(BOMB);
    expect(await find(Buffer.concat([packZeros(16), gzipSync(Buffer.alloc(1))]))).toMatch(BOMB);
    const size = (17 * MIB) / 250;
    expect(await find(pad(GZIP_BOMB, Math.floor(size)))).toMatch(BOMB);
    expect(await find(pad(GZIP_BOMB, Math.ceil(size)))).toBeUndefined();
    const exact = Math.ceil(size) * 250 - 17 * MIB;
    const grown = (more: number) => Buffer.concat([GZIP_BOMB, gzipSync(Buffer.alloc(exact + more))]);
    expect(await find(pad(grown(0), Math.ceil(size)))).toBeUndefined();
    expect(await find(pad(grown(1), Math.ceil(size)))).toMatch(BOMB);
  });

  it('is counted with all of its entries', async () => {
    const entry = { name: 'a', content: Buffer.alloc(9 * MIB) };
    expect(await find(encodeZip([entry]))).toBeUndefined();
    expect(await find(encodeZip([entry, entry]))).toMatch(BOMB);
  });

  it('has at most 20,000 entries', async () => {
    expect(await find(emptyZip(20_000))).toBeUndefined();
    expect(await find(emptyZip(20_001))).toBe('an archive of more than 20000 entries');
  });

  it('inside of another one has at most 64 MiB', async () => {
    // Its bytes are no archive beyond the first ones.
    const start = zip(HELLO).subarray(0, 4);
    expect(await inspect(storeZip(start, 64 * MIB), {})).toBe(BROKEN);
    expect(await inspect(storeZip(start, 64 * MIB + 1), {})).toBe('a large archive inside of an archive');
    expect(await inspect(storeZip(HELLO, 64 * MIB + 1), {})).toBeUndefined();
  });

  it('may grow to 512 MiB in all', async () => {
    expect(await inspect(storeZip(HELLO, 512 * MIB), {})).toBeUndefined();
    expect(await inspect(storeZip(HELLO, 512 * MIB + 1), {})).toMatch(BOMB);
  });
});
