import { describe, expect, it } from 'vitest';
import { encodeZip } from '../../../../../../test/support/samples.ts';
import { getEntries, type RandomAccess } from './zip.ts';

const HELLO = Buffer.from('hello');
const TWO = encodeZip([
  { name: 'first', content: HELLO },
  { name: 'the second', content: Buffer.from('world') },
]);
const END = TWO.length - 22;

function open(bytes: Buffer): RandomAccess & { readonly reads: [number, number][] } {
  const reads: [number, number][] = [];
  return {
    reads,
    size: bytes.length,
    async read(start, end) {
      reads.push([start, end]);
      return bytes.subarray(start, end);
    },
  };
}

async function list(archive: RandomAccess) {
  const entries = [];
  for await (const { packed, ...entry } of getEntries(archive)) {
    const parts: Uint8Array[] = [];
    for await (const part of packed()) parts.push(part);
    entries.push({ ...entry, bytes: Buffer.concat(parts) });
  }
  return entries;
}

const patch = (write: (bytes: Buffer) => void, from = TWO): Buffer => {
  const bytes = Buffer.from(from);
  write(bytes);
  return bytes;
};
const DIRECTORY = TWO.indexOf('PK\x01\x02', 0, 'latin1');

/** An archive of one entry that is not packed. */
function store(content: Uint8Array, name = 'a', extra = 0): Buffer {
  const local = Buffer.alloc(30 + name.length + extra);
  local.write('PK\x03\x04', 'latin1');
  local.writeUInt16LE(name.length, 26);
  local.writeUInt16LE(extra, 28);
  const entry = Buffer.alloc(46 + name.length);
  entry.write('PK\x01\x02', 'latin1');
  entry.writeUInt32LE(content.length, 20);
  entry.writeUInt16LE(name.length, 28);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt32LE(entry.length, 12);
  end.writeUInt32LE(local.length + content.length, 16);
  return Buffer.concat([local, content, entry, end]);
}

describe('a ZIP archive', () => {
  it('has the entries of its directory', async () => {
    const entries = await list(open(TWO));
    expect(entries).toMatchObject([
      { method: 8, isEncrypted: false, packedSize: 7 },
      { method: 8, isEncrypted: false, packedSize: 7 },
    ]);
    const first = TWO.indexOf('first') + 5;
    const second = TWO.indexOf('the second') + 10;
    expect(entries.map(({ bytes }) => bytes)).toEqual([
      TWO.subarray(first, first + 7),
      TWO.subarray(second, second + 7),
    ]);
  });

  it('may have entries with additions and comments', async () => {
    const bytes = patch((all) => {
      all.writeUInt16LE(4, DIRECTORY + 28);
      all.writeUInt16LE(1, DIRECTORY + 30);
    });
    expect(await list(open(bytes))).toHaveLength(2);
    const commented = patch((all) => {
      all.writeUInt16LE(3, DIRECTORY + 28);
      all.writeUInt16LE(2, DIRECTORY + 32);
    });
    expect(await list(open(commented))).toHaveLength(2);
    expect(await list(open(store(HELLO, 'name', 7)))).toMatchObject([{ method: 0, bytes: HELLO }]);
  });

  it('may have a comment of its own, of the largest size', async () => {
    expect(await list(open(Buffer.concat([TWO, Buffer.alloc(65_535)])))).toHaveLength(2);
    await expect(list(open(Buffer.concat([TWO, Buffer.alloc(65_536)])))).rejects.toThrow(
      'without a directory',
    );
  });

  it('may be empty: its directory has an end, and nothing before it', async () => {
    const end = Buffer.alloc(22);
    end.write('PK\x05\x06', 'latin1');
    expect(await list(open(end))).toEqual([]);
  });

  it('distinguishes encrypted entries from others', async () => {
    const encrypted = patch((bytes) => bytes.writeUInt16LE(0x809, DIRECTORY + 8));
    expect(await list(open(encrypted))).toMatchObject([{ isEncrypted: true }, { isEncrypted: false }]);
    const other = patch((bytes) => bytes.writeUInt16LE(0x808, DIRECTORY + 8));
    expect(await list(open(other))).toMatchObject([{ isEncrypted: false }, { isEncrypted: false }]);
  });

  it('is read in pieces', async () => {
    const content = Buffer.alloc(65_537, 'x');
    const archive = open(store(content));
    expect((await list(archive))[0]?.bytes).toEqual(content);
    expect(archive.reads.slice(-2)).toEqual([
      [31, 65_567],
      [65_567, 65_568],
    ]);
    expect(await list(open(store(Buffer.alloc(0))))).toMatchObject([
      { packedSize: 0, bytes: Buffer.alloc(0) },
    ]);
  });
});

describe('a broken ZIP archive', () => {
  it.each([
    ['an archive without a directory', TWO.subarray(0, END)],
    ['an archive without a directory', Buffer.alloc(10)],
    ['the directory of the archive is broken', patch((bytes) => bytes.writeUInt8(7, DIRECTORY))],
    ['the directory of the archive is elsewhere', patch((bytes) => bytes.writeUInt32LE(0xfffffff, END + 16))],
    [
      'the directory of the archive is too long',
      patch((bytes) => bytes.writeUInt32LE(8 * 2 ** 20 + 1, END + 12)),
    ],
    [
      'the directory of the archive is elsewhere',
      patch((bytes) => bytes.writeUInt32LE(8 * 2 ** 20, END + 12)),
    ],
    ['an archive of more than 4 GB', patch((bytes) => bytes.writeUInt32LE(0xffffffff, DIRECTORY + 20))],
    ['an archive of more than 4 GB', patch((bytes) => bytes.writeUInt32LE(0xffffffff, DIRECTORY + 42))],
    ['the archive ends before its last entry', patch((bytes) => bytes.writeUInt32LE(70_000, DIRECTORY + 20))],
  ])('is refused: %s', async (message, bytes) => {
    await expect(list(open(bytes))).rejects.toThrow(message);
  });

  it('may have a directory up to its end', async () => {
    const place = END - (TWO.readUInt32LE(END + 12) + TWO.readUInt32LE(END + 16));
    expect(place).toBe(0);
    // The end of the directory lies within the archive, but is no directory.
    const longer = patch((bytes) => bytes.writeUInt32LE(TWO.readUInt32LE(END + 12) + 22, END + 12));
    await expect(list(open(longer))).rejects.toThrow('the directory of the archive is broken');
    const beyond = patch((bytes) => bytes.writeUInt32LE(TWO.readUInt32LE(END + 12) + 23, END + 12));
    await expect(list(open(beyond))).rejects.toThrow('elsewhere');
  });
});
