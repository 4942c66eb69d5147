import { createLocalModerator, createModelModerator, createModerators } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { createFileApp } from '../support/files.ts';
import { createScriptedProvider } from '../support/model.ts';
import {
  EICAR,
  encodeGif,
  encodeJpeg,
  encodePng,
  encodeWebp,
  encodeZip,
  gzipBomb,
  overlappingZip,
  zipBomb,
} from '../support/samples.ts';

/** A file that arrives in chunks. */
function makeFile(content: Uint8Array | string, mimeType: string, piece = 1000) {
  const bytes = Buffer.from(content);
  return {
    name: 'file',
    mimeType,
    size: bytes.length,
    read: async (start: number, end: number) => bytes.subarray(start, end),
    async *stream() {
      for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
    },
  };
}

const local = createLocalModerator();
const getReason = async (content: Uint8Array | string, mimeType: string, piece?: number) => {
  const verdict = await local.check(makeFile(content, mimeType, piece));
  return verdict.isClean ? 'clean' : verdict.reason;
};

const PNG = encodePng(3, 2);
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="3" on="1"/></svg>';
const WORDS = encodeZip([{ name: 'word/document.xml', content: Buffer.from('<w>Hello</w>'.repeat(5000)) }]);
const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

describe('local moderator', () => {
  it.each([
    ['a picture', PNG, 'image/png'],
    ['a large photograph', encodeJpeg(8160, 6120), 'image/jpeg'],
    ['a document', WORDS, DOCX],
    ['an archive', WORDS, 'application/zip'],
    ['a text', 'Grüße, 你好\n', 'text/plain'],
    ['Latin-1 text', Buffer.from('Gr\xfc\xdfe', 'latin1'), 'text/plain'],
    ['UTF-16 text', Buffer.from('\ufeffHello', 'utf16le'), 'text/csv'],
    ['text that begins like a program', 'MZ is the mark of Mark Zbikowski', 'text/markdown'],
    ['a page', '<!doctype html><script>alert(1)</script>', 'text/html'],
    ['data', '{"a": 1}', 'application/json'],
    ['a drawing', SVG, 'image/svg+xml'],
    ['an SVG with a link to its own part', '<svg><use href="#a"/></svg>', 'image/svg+xml'],
    [
      'an SVG with a language name in its title',
      '<svg><title>JavaScript: the logo</title></svg>',
      'image/svg+xml',
    ],
    [
      'an SVG with an escaped tag in its description',
      '<svg><desc>&lt;script&gt; on = 1</desc></svg>',
      'image/svg+xml',
    ],
    ['an SVG with a document type', '<!DOCTYPE svg PUBLIC "a" "b"><svg/>', 'image/svg+xml'],
    ['bytes of no known type', Buffer.from([0, 1, 2, 3]), 'application/octet-stream'],
    ['bytes of an unknown type', Buffer.from([0, 1, 2, 3]), 'application/x-of-my-own'],
    ['audio without a signature', Buffer.from([0xff, 0xfb, 0x90, 0]), 'audio/mpeg'],
    ['compressed text', gzipBomb(0), 'application/gzip'],
  ])('finds %s clean', async (_, content, mimeType) => {
    expect(await getReason(content, mimeType)).toBe('clean');
  });

  it.each([
    ['HTML declared as an image', '<html><script>', 'image/png'],
    ['an image declared as another type', PNG, 'image/jpeg'],
    ['an image declared as text', PNG, 'text/plain'],
    ['an archive declared as a document', WORDS, 'application/pdf'],
    ['a compressed SVG', gzipBomb(0), 'image/svg+xml'],
    ['an image declared as SVG', PNG, 'image/svg+xml'],
    ['binary data declared as text', Buffer.from([65, 0, 66]), 'text/plain'],
    ['text declared as SVG', '<html></html>', 'image/svg+xml'],
  ])('rejects %s', async (_, content, mimeType) => {
    expect(await getReason(content, mimeType)).toMatch(/not of the type|no text/);
  });

  it.each([
    ['Linux', Buffer.from('\x7fELF\x02\x01', 'latin1')],
    ['macOS', Buffer.from('cffaedfe07000001', 'hex')],
    ['Windows', Buffer.concat([Buffer.from('MZ'), Buffer.alloc(100)])],
  ])('rejects a program for %s under any name', async (_, content) => {
    expect(await getReason(content, 'application/octet-stream')).toMatch(/program/);
  });

  it.each([
    ['PNG', encodePng(10_000, 10_000), 'image/png'],
    ['JPEG', encodeJpeg(10_000, 10_000), 'image/jpeg'],
    ['GIF', encodeGif(10_000, 10_000), 'image/gif'],
    ['WebP', encodeWebp(10_000, 10_000), 'image/webp'],
  ])('rejects a %s of 100 megapixels without decoding it', async (_, content, mimeType) => {
    expect(await getReason(content, mimeType)).toBe('an image of 10000 by 10000 pixels');
  });

  it.each([
    ['a script', '<svg><script>alert(1)</script></svg>'],
    ['a script with a namespace prefix', '<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:script/></s:svg>'],
    ['foreign content', '<svg><foreignObject><body/></foreignObject></svg>'],
    ['an event handler', '<svg><g onload = "alert(1)"/></svg>'],
    ['an event handler behind a slash', '<svg/onload=alert(1)>'],
    ['a javascript: link', '<svg><a href="javascript:alert(1)">x</a></svg>'],
    ['an encoded javascript: link', '<svg><a href="java&#x73;cr&#0105;pt&colon;alert(1)">x</a></svg>'],
    ['a javascript: link with a line break', '<svg><a href="java\nscript:alert(1)">x</a></svg>'],
    ['an external reference', '<svg><image href="https://example.com/pixel"/></svg>'],
    ['an external style', '<svg><style>@import url(//example.com/x.css)</style></svg>'],
    ['a script in a title', '<svg><title><script/></title></svg>'],
    ['an attribute declaration', '<!DOCTYPE svg "a>b" [<!ATTLIST svg onload CDATA "alert(1)">]><svg/>'],
    ['a style sheet', '<?xml-stylesheet href="a.css"?><svg/>'],
    ['a link in an animation', '<svg><animate attributeName="href" values="#a;javascript:alert(1)"/></svg>'],
    ['entities', '<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>'],
    ['UTF-16', Buffer.from('\ufeff<svg><script>alert(1)</script></svg>', 'utf16le')],
    ['a set element', '<svg><set attributeName="href" to="javascript:alert(1)"/></svg>'],
  ])('rejects an SVG with %s', async (_, content) => {
    expect(await getReason(content, 'image/svg+xml')).toMatch(/^an SVG with/);
  });

  it.each([
    ['a nested document type with a bracket', '<!doctype a><!DOCTYPE b <!doctype c [ ]><svg/>'],
    ['an address behind blanks', `<svg><image href = \n"${' '.repeat(100)}https://example.com/"/></svg>`],
    ['a style behind blanks', `<svg><style>a { fill: url( ' //example.com/x' ) }</style></svg>`],
  ])('rejects an SVG with %s', async (_, content) => {
    expect(await getReason(content, 'image/svg+xml')).toMatch(/^an SVG with/);
  });

  it.each([
    ['document types', '<!doctype'],
    ['complete document types', '<!doctype>'],
    ['addresses', 'href= '],
    ['blanks behind an address', ' ', 'href='],
    ['blanks behind a style', ' ', 'url('],
    ['handlers', ' ona'],
    ['tags', '<a.'],
    ['references', '&#9'],
    ['breaks', 'a\nt '],
    ['brackets before a document type', '[', '', '<!doctype a>'],
  ])('checks an SVG of nothing but %s in linear time', async (_, piece, before = '', after = '') => {
    const size = 5 * 2 ** 20 - 100;
    const text = `<svg ${before}${piece.repeat(Math.floor(size / piece.length))}${after}`;
    // A quadratic check would exceed the test timeout.
    expect(await getReason(text, 'image/svg+xml')).toBe('clean');
  });

  it.each([
    ['at the beginning', EICAR, 1000],
    ['in the middle of text, split in two chunks', `${'x'.repeat(950)}${EICAR}`, 1000],
    ['in small chunks', EICAR, 7],
  ])('finds the test virus %s', async (_, content, piece) => {
    expect(await getReason(content, 'text/plain', piece)).toBe('the EICAR test file');
  });

  it('rejects decompression bombs, whatever sizes they declare', async () => {
    expect(await getReason(zipBomb(40), 'application/zip')).toMatch(/that grows beyond/);
    expect(await getReason(gzipBomb(40), 'application/gzip')).toMatch(/that grows beyond/);
    const nested = encodeZip([{ name: 'a.zip', content: zipBomb(40) }]);
    expect(await getReason(nested, 'application/zip')).toMatch(/that grows beyond/);
    const mixed = encodeZip([{ name: 'a.gz', content: gzipBomb(40) }]);
    expect(await getReason(mixed, DOCX)).toMatch(/that grows beyond/);
  });

  it('rejects endless and invalid archives', async () => {
    let onion = WORDS;
    for (let depth = 0; depth < 4; depth += 1) onion = encodeZip([{ name: 'next.zip', content: onion }]);
    expect(await getReason(onion, 'application/zip')).toMatch(/archives inside of archives/);
    const overlapping = overlappingZip(50, Buffer.from('x'.repeat(1_000_000)));
    expect(await getReason(overlapping, 'application/zip')).toMatch(/overlap/);
    const names = encodeZip([{ name: 'x'.repeat(60_000), content: Buffer.from('x') }]);
    expect(await getReason(names, 'application/zip')).toBe('clean');
    const many = overlappingZip(20_001, new Uint8Array(0));
    expect(await getReason(many, 'application/zip')).toMatch(/more than 20000 entries|overlap/);
    for (const broken of [WORDS.subarray(0, 60), WORDS.subarray(0, WORDS.length - 30)]) {
      expect(await getReason(broken, 'application/zip')).toBe('an archive that cannot be opened');
    }
    expect(await getReason(gzipBomb(1).subarray(0, 100), 'application/gzip')).toBe(
      'an archive that cannot be opened',
    );
  });
});

describe('model as a moderator', () => {
  const asking = (answer: string) => {
    const provider = createScriptedProvider((call) => {
      call.say({ type: 'text', text: answer });
      call.end();
    });
    return { moderator: createModelModerator({ provider, model: 'scripted' }), calls: provider.calls };
  };

  it('receives images and the beginning of texts and decides', async () => {
    const { moderator, calls } = asking('Sure: {"allowed": true}');
    expect(await moderator.check(makeFile(PNG, 'image/png'))).toEqual({ isClean: true });
    expect(await moderator.check(makeFile(Buffer.from('\ufeffHello', 'utf16le'), 'text/plain'))).toEqual({
      isClean: true,
    });
    expect(calls.map(({ request }) => request.messages[1]?.content[0])).toEqual([
      { type: 'image', mediaType: 'image/png', data: PNG.toString('base64') },
      { type: 'text', text: 'Hello' },
    ]);
    const refusing = asking('{"allowed": false, "reason": "violence"}').moderator;
    expect(await refusing.check(makeFile(PNG, 'image/png'))).toEqual({ isClean: false, reason: 'violence' });
  });

  it('is not called for unsupported files', async () => {
    const { moderator, calls } = asking('{"allowed": false}');
    expect(await moderator.check(makeFile(WORDS, 'application/zip'))).toEqual({ isClean: true });
    const named = (content: string, name: string) => ({
      ...makeFile(content, 'application/octet-stream'),
      name,
    });
    expect(await moderator.check(named('Hello', 'a.bin'))).toEqual({ isClean: true });
    expect(await moderator.check(named('Hello\0', 'a.txt'))).toEqual({ isClean: true });
    expect(calls).toEqual([]);
    // A model of a chat would read it, too.
    expect(await moderator.check(named('Hello', 'a.txt'))).toMatchObject({ isClean: false });
    expect(await moderator.check(makeFile('<p>Hello', 'text/html'))).toMatchObject({ isClean: false });
  });

  it.each(['I cannot say.', '{"allowed": "perhaps"}', '{"allowed": '])(
    'fails when it answers %s',
    async (said) => {
      await expect(asking(said).moderator.check(makeFile(PNG, 'image/png'))).rejects.toThrow();
    },
  );

  it('runs after the local moderator and skips what that rejects', async () => {
    const { moderator, calls } = asking('{"allowed": true}');
    const both = createModerators([local, moderator]);
    expect(await both.check(makeFile(EICAR, 'text/plain'))).toMatchObject({ isClean: false });
    expect(calls).toEqual([]);
    expect(await both.check(makeFile('Hello', 'text/plain'))).toEqual({ isClean: true });
    expect(calls).toHaveLength(1);
  });
});

it.each([
  ['an SVG with a script', '<svg><script>alert(1)</script></svg>', 'image/svg+xml'],
  ['a zip bomb', zipBomb(40), 'application/zip'],
  ['an image of 100 megapixels', encodePng(10_000, 10_000), 'image/png'],
])('blocks an uploaded %s and never serves it', async (_, content, mimeType) => {
  const app = await createFileApp({
    models: [createScriptedProvider()],
    settings: { admin: { DefaultAPIModel: 'scripted' } },
  });
  const file = await app.upload(content, { mime_type: mimeType });
  expect(file).toMatchObject({ moderation_status: 'blocked', download_url: null });
  const record = await app.record(file.id);
  expect(record?.objectKey).toBeUndefined();
  const chat = await app.ask('POST', '/api/chat', { body: { message: 'Look', fileIds: [file.id] } });
  expect([chat.status, (await chat.json()) as object]).toMatchObject([
    422,
    { errorCode: 'unsupported_input' },
  ]);
});
