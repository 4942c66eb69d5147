import { describe, expect, it } from 'vitest';
import { readDocument } from '../src/read.ts';
import { WIDE_LIMITS } from './make.ts';

const read = (page: string | Uint8Array) =>
  readDocument('html', new Uint8Array(Buffer.from(page)), WIDE_LIMITS);
/** A declaration whose name ends with this byte. */
const declareLate = (byte: number) => `${'<meta charset="latin1'.padStart(byte)}">`;
const getText = async (page: string | Uint8Array) => (await read(page)).text;

describe('text of a web page', () => {
  it('is what a browser shows, and its keywords are tags', async () => {
    const page = `<!doctype html><html><head><title>My &amp; page</title><meta name="Keywords" content="a, b c,,">
      <style>p { color: red }</style></head><body><h1>Head</h1><p>One<br>two &lt;three&gt;</p>
      <script>alert('no')</script><table><tr><td>x</td><td>y</td></tr></table><p>open`;
    expect(await read(page)).toEqual({
      text: 'My & page\n\nHead\n\nOne\ntwo <three>\n\nx y\n\nopen',
      tags: ['a', 'b c'],
    });
  });

  it.each([
    ['no end tag of its head', '<head><title>T</title><p>one</p>', 'T\n\none'],
    ['a head that ends with text', '<head><title>T</title>\n One <b>two</b>', 'T\n\nOne two'],
    ['text behind its head', '<head><title>T</title>\n</head>one', 'T\n\none'],
    [
      'a script, a style and a link in its head',
      '<head><script>a</script><style>b</style><link>c<p>d',
      'c\nd',
    ],
    ['no title', '<p>one', 'one'],
    ['a title in its body', '<p>one<title>T</title>two', 'T\n\nonetwo'],
    ['a drawing with a title', '<title>T</title><svg><title>U</title><g>x</g></svg><p>one', 'T\n\none'],
    ['nested drawings', '<svg><svg>a</svg>b</svg>one', 'one'],
    ['an end tag without its element', '</svg></script>a<svg>b</svg>c', 'ac'],
    ['a template', 'a<template><p>b</template>c', 'ac'],
    ['a line in what a browser with scripts leaves out', 'a<noscript><br></noscript>c', 'ac'],
    ['an end within a character', 'a &lt', 'a <'],
    ['a comment', 'a<!-- b -->c', 'ac'],
    ['many blanks and lines', '<p> a \t b\n\n\n\n c </p>\n\n\n<p>d', 'a b\n\nc\n\nd'],
    ['a rule and lists', 'a<hr>b<ul><li>c<li>d</ul>e', 'a\nb\n\nc\n\nd\n\ne'],
    ['cells', '<table><tr><th>a<th>b<tr><td>c<td>d</table>', 'a b\n\nc d'],
    ['a summary with details', '<details><summary>a</summary>b</details>c', 'a\nb\nc'],
  ])('with %s', async (_, page, text) => {
    expect(await getText(page)).toBe(text);
  });

  it.each([
    'caption',
    'center',
    'dd',
    'dialog',
    'fieldset',
    'legend',
    'menu',
    'optgroup',
    'option',
    'summary',
  ])('begins and ends a line with the element %s', async (name) => {
    expect(await getText(`a<${name}>b</${name}>c`)).toBe('a\nb\nc');
  });

  it.each([
    ['none', Buffer.from('<p>Größe')],
    ['a meta element', Buffer.from('<meta charset="iso-8859-1"><p>Größe', 'latin1')],
    [
      'a meta element of a media type',
      Buffer.from("<META content='text/html; charset = latin1'><p>Größe", 'latin1'),
    ],
    ['a declaration of XML', Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><p>Größe', 'latin1')],
    [
      'both, and the meta element counts',
      Buffer.from('<?xml version="1.0" encoding="latin1"?><meta charset="utf-8"><p>Größe'),
    ],
    ['a name that is unknown', Buffer.from('<meta charset="klingon"><p>Größe')],
    ['UTF-16 in a page whose bytes are not', Buffer.from('<meta charset="utf-16"><p>Größe')],
    ['UTF-16LE in a page whose bytes are not', Buffer.from('<meta charset="UTF-16LE"><p>Größe')],
    ['a byte order mark of UTF-16', Buffer.from('\ufeff<p>Größe', 'utf16le')],
    ['a byte order mark of big-endian UTF-16', Buffer.from('\ufeff<p>Größe', 'utf16le').swap16()],
    ['a byte order mark and another name', Buffer.from('\ufeff<meta charset="latin1"><p>Größe')],
    ['a name that ends with the first 1024 bytes', Buffer.from(`${declareLate(1024)}<p>Größe`, 'latin1')],
    ['a name that ends behind the first 1024 bytes', Buffer.from(`${declareLate(1025)}<p>Größe`)],
  ])('is decoded when the encoding is declared by %s', async (_, page) => {
    expect(await getText(page)).toBe('Größe');
  });

  it('is decoded over the ends of pieces', async () => {
    const page = 'a'.repeat(65_535) + 'ß'.repeat(65_536);
    expect(await getText(page)).toBe(page);
    const cut = Buffer.from('aß').subarray(0, 2);
    expect(await getText(cut)).toBe('a\ufffd');
  });

  it('has at most 10,000 characters of title and of keywords', async () => {
    const long = 'x'.repeat(10_001);
    const { text, tags } = await read(`<title>${long}</title><meta name=keywords content="${long}"><p>one`);
    expect(text).toBe(`${long.slice(1)}\n\none`);
    expect(tags).toEqual([long.slice(1)]);
  });

  it('has no tags without keywords', async () => {
    for (const page of [
      '<p>one',
      '<meta name="author" content="a, b">',
      '<meta name="keywords">',
      '<input name="keywords" content="a">',
    ]) {
      expect((await read(page)).tags).toEqual([]);
    }
  });

  it('is limited in its bytes and its depth', async () => {
    const limits = { ...WIDE_LIMITS, maxTextBytes: 4 };
    const bytes = (page: string) => new Uint8Array(Buffer.from(page));
    expect(await readDocument('html', bytes('abcd'), limits)).toEqual({ text: 'abcd', tags: [] });
    await expect(readDocument('html', bytes('abcß'), limits)).rejects.toMatchObject({ excess: 'text' });
    const nested = (depth: number) => `${'<b>'.repeat(depth)}a`;
    expect(await getText(nested(10_000))).toBe('a');
    expect(await getText('<b>a</b>'.repeat(10_001))).toBe('a'.repeat(10_001));
    await expect(getText(`<b></b><b></b>${nested(10_001)}`)).rejects.toMatchObject({ excess: 'depth' });
  });
});
