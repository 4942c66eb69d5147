import { createLocalModerator, createModelModerator, createModerators } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { createFileWorld } from '../support/files.ts';
import { createScriptedProvider } from '../support/model.ts';
import {
  EICAR,
  gifOf,
  gzipBomb,
  jpegOf,
  overlappingZip,
  pngOf,
  webpOf,
  zipBomb,
  zipOf,
} from '../support/samples.ts';

/** A file that arrives in pieces of a size. */
function fileOf(content: Uint8Array | string, mimeType: string, piece = 1000) {
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
const reasonOf = async (content: Uint8Array | string, mimeType: string, piece?: number) => {
  const verdict = await local.check(fileOf(content, mimeType, piece));
  return verdict.isClean ? 'clean' : verdict.reason;
};

const PNG = pngOf(3, 2);
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="3" on="1"/></svg>';
const WORDS = zipOf([{ name: 'word/document.xml', content: Buffer.from('<w>Hello</w>'.repeat(5000)) }]);
const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

describe('the local moderator', () => {
  it.each([
    ['a picture', PNG, 'image/png'],
    ['a large photograph', jpegOf(8160, 6120), 'image/jpeg'],
    ['a document', WORDS, DOCX],
    ['an archive', WORDS, 'application/zip'],
    ['a text', 'Grüße, 你好\n', 'text/plain'],
    ['a text in an older encoding', Buffer.from('Gr\xfc\xdfe', 'latin1'), 'text/plain'],
    ['a text in UTF-16', Buffer.from('\ufeffHello', 'utf16le'), 'text/csv'],
    ['a text that begins like a program', 'MZ is the mark of Mark Zbikowski', 'text/markdown'],
    ['a page', '<!doctype html><script>alert(1)</script>', 'text/html'],
    ['data', '{"a": 1}', 'application/json'],
    ['a drawing', SVG, 'image/svg+xml'],
    ['a drawing with a link to its own part', '<svg><use href="#a"/></svg>', 'image/svg+xml'],
    ['bytes of no known type', Buffer.from([0, 1, 2, 3]), 'application/octet-stream'],
    ['bytes of a type nobody knows', Buffer.from([0, 1, 2, 3]), 'application/x-of-my-own'],
    ['sound without a mark', Buffer.from([0xff, 0xfb, 0x90, 0]), 'audio/mpeg'],
    ['a packed text', gzipBomb(0), 'application/gzip'],
  ])('finds %s clean', async (_, content, mimeType) => {
    expect(await reasonOf(content, mimeType)).toBe('clean');
  });

  it.each([
    ['a page that is called a picture', '<html><script>', 'image/png'],
    ['a picture that is called another', PNG, 'image/jpeg'],
    ['a picture that is called a text', PNG, 'text/plain'],
    ['an archive that is called a document', WORDS, 'application/pdf'],
    ['a packed drawing', gzipBomb(0), 'image/svg+xml'],
    ['a picture that is called a drawing', PNG, 'image/svg+xml'],
    ['data that are called a text', Buffer.from([65, 0, 66]), 'text/plain'],
    ['a drawing that is none', '<html></html>', 'image/svg+xml'],
  ])('refuses %s', async (_, content, mimeType) => {
    expect(await reasonOf(content, mimeType)).toMatch(/not of the type|no text/);
  });

  it.each([
    ['Linux', Buffer.from('\x7fELF\x02\x01', 'latin1')],
    ['macOS', Buffer.from('cffaedfe07000001', 'hex')],
    ['Windows', Buffer.concat([Buffer.from('MZ'), Buffer.alloc(100)])],
  ])('refuses a program for %s, whatever it is called', async (_, content) => {
    expect(await reasonOf(content, 'application/octet-stream')).toMatch(/program/);
  });

  it.each([
    ['PNG', pngOf(10_000, 10_000), 'image/png'],
    ['JPEG', jpegOf(10_000, 10_000), 'image/jpeg'],
    ['GIF', gifOf(10_000, 10_000), 'image/gif'],
    ['WebP', webpOf(10_000, 10_000), 'image/webp'],
  ])('refuses a %s of 100 megapixels without decoding it', async (_, content, mimeType) => {
    expect(await reasonOf(content, mimeType)).toBe('an image of 10000 by 10000 pixels');
  });

  it.each([
    ['a script', '<svg><script>alert(1)</script></svg>'],
    ['a script with a prefix', '<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:script/></s:svg>'],
    ['foreign content', '<svg><foreignObject><body/></foreignObject></svg>'],
    ['an event handler', '<svg><g onload = "alert(1)"/></svg>'],
    ['a handler behind a slash', '<svg/onload=alert(1)>'],
    ['a link that acts', '<svg><a href="javascript:alert(1)">x</a></svg>'],
    [
      'a link that acts, spelled otherwise',
      '<svg><a href="java&#x73;cr&#0105;pt&colon;alert(1)">x</a></svg>',
    ],
    ['a link with a break in it', '<svg><a href="java\nscript:alert(1)">x</a></svg>'],
    ['something from elsewhere', '<svg><image href="https://example.com/pixel"/></svg>'],
    ['a style from elsewhere', '<svg><style>@import url(//example.com/x.css)</style></svg>'],
    ['entities', '<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>'],
    ['UTF-16', Buffer.from('\ufeff<svg><script>alert(1)</script></svg>', 'utf16le')],
    ['a set animation', '<svg><set attributeName="href" to="javascript:alert(1)"/></svg>'],
  ])('refuses an SVG with %s', async (_, content) => {
    expect(await reasonOf(content, 'image/svg+xml')).toMatch(/^an SVG with/);
  });

  it.each([
    ['a document type with a bracket, behind others', '<!doctype a><!DOCTYPE b <!doctype c [ ]><svg/>'],
    ['an address behind blanks', `<svg><image href = \n"${' '.repeat(100)}https://example.com/"/></svg>`],
    ['a style behind blanks', `<svg><style>a { fill: url( ' //example.com/x' ) }</style></svg>`],
  ])('refuses an SVG with %s', async (_, content) => {
    expect(await reasonOf(content, 'image/svg+xml')).toMatch(/^an SVG with/);
  });

  it.each([
    ['document types', '<!doctype'],
    ['document types that end', '<!doctype>'],
    ['addresses', 'href= '],
    ['blanks behind an address', ' ', 'href='],
    ['blanks behind a style', ' ', 'url('],
    ['handlers', ' ona'],
    ['tags', '<a.'],
    ['references', '&#9'],
    ['breaks', 'a\nt '],
    ['brackets in front of a document type', '[', '', '<!doctype a>'],
  ])('looks through an SVG of nothing but %s in no time', async (_, piece, before = '', after = '') => {
    const size = 5 * 2 ** 20 - 100;
    const text = `<svg ${before}${piece.repeat(Math.floor(size / piece.length))}${after}`;
    // What read the same twice would not end within the day.
    expect(await reasonOf(text, 'image/svg+xml')).toBe('clean');
  });

  it.each([
    ['at the beginning', EICAR, 1000],
    ['amid other text, cut in two', `${'x'.repeat(950)}${EICAR}`, 1000],
    ['in small pieces', EICAR, 7],
  ])('finds the test virus %s', async (_, content, piece) => {
    expect(await reasonOf(content, 'text/plain', piece)).toBe('the EICAR test file');
  });

  it('refuses archives that grow beyond measure, whatever they say of their sizes', async () => {
    expect(await reasonOf(zipBomb(40), 'application/zip')).toMatch(/that grows beyond/);
    expect(await reasonOf(gzipBomb(40), 'application/gzip')).toMatch(/that grows beyond/);
    const nested = zipOf([{ name: 'a.zip', content: zipBomb(40) }]);
    expect(await reasonOf(nested, 'application/zip')).toMatch(/that grows beyond/);
    const mixed = zipOf([{ name: 'a.gz', content: gzipBomb(40) }]);
    expect(await reasonOf(mixed, DOCX)).toMatch(/that grows beyond/);
  });

  it('refuses archives without an end, and what is no archive', async () => {
    let onion = WORDS;
    for (let depth = 0; depth < 4; depth += 1) onion = zipOf([{ name: 'next.zip', content: onion }]);
    expect(await reasonOf(onion, 'application/zip')).toMatch(/archives inside of archives/);
    const overlapping = overlappingZip(50, Buffer.from('x'.repeat(1_000_000)));
    expect(await reasonOf(overlapping, 'application/zip')).toMatch(/overlap/);
    const many = overlappingZip(20_001, new Uint8Array(0));
    expect(await reasonOf(many, 'application/zip')).toMatch(/more than 20000 entries|overlap/);
    for (const broken of [WORDS.subarray(0, 60), WORDS.subarray(0, WORDS.length - 30)]) {
      expect(await reasonOf(broken, 'application/zip')).toBe('an archive that cannot be opened');
    }
    expect(await reasonOf(gzipBomb(1).subarray(0, 100), 'application/gzip')).toBe(
      'an archive that cannot be opened',
    );
  });
});

describe('a model as a moderator', () => {
  const asking = (answer: string) => {
    const provider = createScriptedProvider((call) => {
      call.say({ type: 'text', text: answer });
      call.end();
    });
    return { moderator: createModelModerator({ provider, model: 'scripted' }), calls: provider.calls };
  };

  it('is shown pictures and the beginning of texts, and its word counts', async () => {
    const { moderator, calls } = asking('Sure: {"allowed": true}');
    expect(await moderator.check(fileOf(PNG, 'image/png'))).toEqual({ isClean: true });
    expect(await moderator.check(fileOf('Hello', 'text/plain'))).toEqual({ isClean: true });
    expect(calls.map(({ request }) => request.messages[1]?.content[0])).toEqual([
      { type: 'image', mediaType: 'image/png', data: PNG.toString('base64') },
      { type: 'text', text: 'Hello' },
    ]);
    const refusing = asking('{"allowed": false, "reason": "violence"}').moderator;
    expect(await refusing.check(fileOf(PNG, 'image/png'))).toEqual({ isClean: false, reason: 'violence' });
  });

  it('is not asked about what it cannot see', async () => {
    const { moderator, calls } = asking('{"allowed": false}');
    expect(await moderator.check(fileOf(WORDS, 'application/zip'))).toEqual({ isClean: true });
    expect(calls).toEqual([]);
  });

  it.each(['I cannot say.', '{"allowed": "perhaps"}', '{"allowed": '])(
    'that says %s has failed',
    async (said) => {
      await expect(asking(said).moderator.check(fileOf(PNG, 'image/png'))).rejects.toThrow();
    },
  );

  it('stands behind the local one, and is spared what that refuses', async () => {
    const { moderator, calls } = asking('{"allowed": true}');
    const both = createModerators([local, moderator]);
    expect(await both.check(fileOf(EICAR, 'text/plain'))).toMatchObject({ isClean: false });
    expect(calls).toEqual([]);
    expect(await both.check(fileOf('Hello', 'text/plain'))).toEqual({ isClean: true });
    expect(calls).toHaveLength(1);
  });
});

it.each([
  ['an SVG with a script', '<svg><script>alert(1)</script></svg>', 'image/svg+xml'],
  ['a zip bomb', zipBomb(40), 'application/zip'],
  ['an image of 100 megapixels', pngOf(10_000, 10_000), 'image/png'],
])('%s that is uploaded is blocked, and nothing of it is ever served', async (_, content, mimeType) => {
  const world = await createFileWorld({
    models: [createScriptedProvider()],
    settings: { admin: { DefaultAPIModel: 'scripted' } },
  });
  const file = await world.upload(content, { mime_type: mimeType });
  expect(file).toMatchObject({ moderation_status: 'blocked', download_url: null });
  const record = await world.record(file.id);
  expect(record?.objectKey).toBeUndefined();
  const chat = await world.ask('POST', '/api/chat', { body: { message: 'Look', fileIds: [file.id] } });
  expect([chat.status, (await chat.json()) as object]).toMatchObject([
    422,
    { errorCode: 'unsupported_input' },
  ]);
});
