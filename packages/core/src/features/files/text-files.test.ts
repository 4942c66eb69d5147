import { expect, it } from 'vitest';
import { decodeText, isTextFile } from './text-files.ts';

const PLAIN = { mimeType: 'text/plain', name: 'a' };
const read = (bytes: readonly number[], type = PLAIN): string | undefined =>
  decodeText(Uint8Array.from(bytes), type);

it.each([
  ...['text/plain', 'text/x-python', 'text/xml', 'text/calendar', 'application/json', 'application/x-yaml'],
  ...['application/javascript', 'application/x-javascript', 'application/toml', 'application/sql'],
  ...[
    'application/xml',
    'application/x-httpd-php',
    'application/geo+json',
    'application/vnd.oai.openapi+yaml',
  ],
])('%s is text', (mimeType) => {
  expect(isTextFile({ mimeType, name: 'a.bin' })).toBe(true);
});

it.each([
  ...['text/html', 'text/rtf', 'text/richtext', 'text/enriched', 'application/pdf', 'application/zip'],
  ...[
    'application/xhtml+xml',
    'application/vnd.sun.xml.writer',
    'image/svg+xml',
    'model/gltf+json',
    'video/mp4',
  ],
  ...['application/x-x-json', 'json', 'x-application/json'],
])('%s is not, whatever its name', (mimeType) => {
  expect(isTextFile({ mimeType, name: 'a.txt' })).toBe(false);
});

it.each(['', 'application/octet-stream', 'video/mp2t', 'video/vnd.dlna.mpeg-tts'])(
  'of the type %j is what the name says is text',
  (mimeType) => {
    for (const name of ['a.ts', 'a.b.TXT', '.csv', 'a.py', 'a.log', 'a.jsonl'])
      expect([name, isTextFile({ mimeType, name })]).toEqual([name, true]);
    for (const name of ['a', 'ts', 'a.bin', 'a.html', 'a.ts.gz', 'a.', 'a.constructor'])
      expect([name, isTextFile({ mimeType, name })]).toEqual([name, false]);
    expect(read([0x41, 0, 0x42], { mimeType, name: 'a.ts' })).toBeUndefined();
    expect(read([0x41, 0x42], { mimeType, name: 'a.ts' })).toBe('AB');
    const late = [...new Array<number>(7999).fill(0x41), 0];
    expect(read(late, { mimeType, name: 'a.ts' })).toBeUndefined();
    expect(read([0x41, ...late], { mimeType, name: 'a.ts' })).toHaveLength(8001);
  },
);

it('text of a type that says so may have zeros', () => {
  expect(read([0x41, 0, 0x42])).toBe('A\0B');
});

it.each<[readonly number[], string]>([
  [[0xff, 0xfe, 0x41, 0], 'A'],
  [[0xfe, 0xff, 0, 0x41], 'A'],
  [[0xff, 0x41], 'ÿA'],
  [[0xfe, 0x41], 'þA'],
  [[0x41, 0xfe], 'Aþ'],
  [[0x41, 0xff], 'Aÿ'],
  [[0xfe, 0xfe], 'þþ'],
  [[0xff, 0xff], 'ÿÿ'],
])('decodes %j by its mark', (bytes, text) => {
  expect(read(bytes)).toBe(text);
});

const bytesOf = (...parts: readonly (string | number)[]): number[] =>
  parts.flatMap((part) => (typeof part === 'string' ? [...Buffer.from(part)] : [part]));

it.each<[string, readonly number[], string]>([
  ['a spreadsheet', [...Buffer.from('Größe;Café\r\n5;3', 'latin1')], 'Größe;Café\r\n5;3'],
  ['more errors than letters', bytesOf(0xff, 0xff, 'é'), 'ÿÿÃ©'],
  ['a control character and an error', [0x7f, 0xff], '\x7fÿ'],
  ['a spreadsheet with signs', bytesOf(0x93, '5 ', 0x80, 0x94), '“5 €”'],
])('decodes %s that is not in UTF-8', (_title, bytes, text) => {
  expect(read(bytes)).toBe(text);
});

it.each<[string, readonly number[], string]>([
  ['is cut in a letter', bytesOf('Größe €', 0xc3), 'Größe €\ufffd'],
  ['has no errors', bytesOf('Größe'), 'Größe'],
  ['has as many letters as errors', bytesOf(0xff, 'a', 'é'), '\ufffdaé'],
  ['has its letters before and after the error', bytesOf('é', 'a'.repeat(2 ** 19 - 1), 0xff, 'a'), '\ufffda'],
  ['has its letters after the error', bytesOf(0xff, 'a'.repeat(2 ** 19 - 2), 'é'), 'é'],
])('keeps UTF-8 that %s', (_title, bytes, end) => {
  expect(read(bytes)?.endsWith(end)).toBe(true);
});

it('decides about the encoding by a mebibyte around the first error', () => {
  expect(read(bytesOf('é', 'a'.repeat(2 ** 19), 0xff))?.slice(0, 3)).toBe('Ã©a');
  expect(read(bytesOf(0xff, 'a'.repeat(2 ** 19 - 1), 'é'))?.slice(-2)).toBe('Ã©');
});
