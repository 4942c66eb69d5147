import { describe, expect, it } from 'vitest';
import { makeFile } from '../../../../test/checked-file.ts';
import { findWrongType } from './types.ts';

const find = (content: Uint8Array | string, mimeType: string) =>
  findWrongType(makeFile(content, mimeType), {});
const hex = (digits: string) => Buffer.from(digits, 'hex');
const WRONG = (mimeType: string) => `the bytes are not of the type ${mimeType}`;

describe('bytes with a signature', () => {
  it.each([
    ['89504e470d0a1a0a', 'image/png'],
    ['ffd8ff', 'image/jpeg'],
    ['474946383761', 'image/gif'],
    ['474946383961', 'image/gif'],
    ['524946460000000057454250', 'image/webp'],
    ['524946460000000057415645', 'audio/wav'],
    ['25504446', 'application/pdf'],
    ['504b0304', 'application/epub+zip'],
    ['504b0506', 'application/zip'],
    ['1f8b08', 'application/x-tgz'],
    ['1f8b08', 'application/gzip'],
    ['494433', 'audio/mpeg'],
    ['4f676753', 'video/ogg'],
    ['664c6143', 'audio/flac'],
    ['1a45dfa3', 'video/webm'],
    ['0000000066747970', 'image/avif'],
    ['0000000066747970', 'video/mp4'],
  ])('%s are of the type %s and no other', async (bytes, mimeType) => {
    expect(await find(hex(`${bytes}0001`), mimeType)).toBeUndefined();
    expect(await find(hex(`${bytes}0001`), 'application/octet-stream')).toBeUndefined();
    for (const other of ['text/plain', 'image/tiff', 'application/x-other']) {
      expect(await find(hex(`${bytes}0001`), other)).toBe(WRONG(other));
    }
    if (mimeType !== 'audio/mpeg') expect(await find('no such bytes', mimeType)).toBe(WRONG(mimeType));
  });

  it('may have another one behind it', async () => {
    expect(await find(hex('ffd8ff0066747970'), 'image/jpeg')).toBeUndefined();
    expect(await find(hex('ffd8ff0066747970'), 'video/mp4')).toBeUndefined();
  });

  it('are not needed for audio that begins with a frame', async () => {
    expect(await find(hex('fffb9000'), 'audio/mpeg')).toBeUndefined();
    expect(await find(hex('fffb9000'), 'audio/mp3')).toBeUndefined();
  });
});

describe('a program', () => {
  it.each([
    ['7f454c46', 'an ELF program'],
    ['cafebabe', 'a Java class or Mach-O program'],
    ['feedface', 'a Mach-O program'],
    ['feedfacf', 'a Mach-O program'],
    ['cffaedfe', 'a Mach-O program'],
    ['cefaedfe', 'a Mach-O program'],
  ])('begins with %s', async (bytes, name) => {
    expect(await find(hex(bytes), 'application/octet-stream')).toBe(name);
    expect(await find(hex(`00${bytes}`), 'application/octet-stream')).toBeUndefined();
  });

  it('for Windows has zeros, other than a text with the same first letters', async () => {
    const bytes = Buffer.alloc(100, 'x');
    bytes.write('MZ', 'latin1');
    expect(await find(bytes, 'text/plain')).toBeUndefined();
    expect(await find(bytes.fill(0, 99), 'text/plain')).toBe('a Windows program');
    expect(await find(bytes.fill('N', 0, 1), 'application/octet-stream')).toBeUndefined();
  });

  it('for Windows has more than 64 bytes', async () => {
    const bytes = Buffer.alloc(65);
    bytes.write('MZ', 'latin1');
    expect(await find(bytes, 'application/octet-stream')).toBe('a Windows program');
    expect(await find(bytes.subarray(0, 64), 'application/octet-stream')).toBeUndefined();
  });
});

describe('a text', () => {
  const NO_TEXT = 'the bytes are no text';

  it.each([
    'text/markdown',
    'application/json',
    'application/x-ndjson',
    'application/a+json',
    'image/svg+xml',
  ])('has no zero in it: %s', async (mimeType) => {
    expect(await find('words', mimeType)).toBeUndefined();
    expect(await find('wo\0rds', mimeType)).toBe(NO_TEXT);
  });

  it('of UTF-16 has a mark', async () => {
    expect(await find(hex('fffe6100'), 'text/plain')).toBeUndefined();
    expect(await find(hex('feff0061'), 'text/plain')).toBeUndefined();
    expect(await find(hex('61006200'), 'text/plain')).toBe(NO_TEXT);
  });

  it.each([
    ['fc', undefined],
    ['fc07', NO_TEXT],
    ['fc08', undefined],
    ['fc0d', undefined],
    ['fc0e', NO_TEXT],
    ['fc1a', NO_TEXT],
    ['fc1b', undefined],
    ['07', undefined],
  ])('of another encoding has no control characters: %s', async (bytes, found) => {
    expect(await find(hex(bytes), 'text/plain')).toBe(found);
  });

  it('may end within a character of the first 8,192 bytes', async () => {
    expect(
      await find(Buffer.concat([Buffer.alloc(8190, 1), Buffer.from('€')]), 'text/plain'),
    ).toBeUndefined();
    expect(await find(Buffer.concat([Buffer.alloc(8191, 1), hex('e2')]), 'text/plain')).toBe(NO_TEXT);
    const file = makeFile(Buffer.concat([Buffer.alloc(8192, 'a'), Buffer.from('\0')]), 'text/plain');
    expect(await findWrongType(file, {})).toBeUndefined();
    expect(file.reads).toEqual([[0, 8192]]);
  });

  it('is no other type', async () => {
    expect(await find('wo\0rds', 'application/x-text')).toBeUndefined();
    expect(await find('wo\0rds', 'application/json2')).toBeUndefined();
  });
});
