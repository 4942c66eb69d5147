import { describe, expect, it } from 'vitest';
import { readDocument } from '../src/read.ts';
import { makeRelations, makeWordOfBody, makeWordXml, makeZip, WIDE_LIMITS } from './make.ts';

const getText = async (bytes: Uint8Array, limits = WIDE_LIMITS) =>
  (await readDocument('word', new Uint8Array(bytes), limits)).text;
const getBodyText = (body: string) => getText(makeWordOfBody(body));
const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
const ONE = makeWordXml(paragraph('one'));
const OTHER = makeWordXml(paragraph('other'));

describe('text of a Word file', () => {
  it('is the visible one: accepted changes, tabs and lines, without fallback shapes', async () => {
    const body = `<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>one</w:t><w:tab/><w:t xml:space="preserve"> two</w:t>
      <w:br/><w:t>three</w:t></w:r></w:p><w:p><w:del><w:r><w:delText>gone</w:delText><w:t>gone</w:t></w:r></w:del>
      <w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>
      <mc:AlternateContent><mc:Choice><w:p><w:r><w:t>shape</w:t></w:r></w:p></mc:Choice>
      <mc:Fallback><w:p><w:r><w:t>shape</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>
      <w:tbl><w:tr><w:tc><w:p><w:r><w:t>cell</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`;
    expect(await getBodyText(body)).toBe('one\t two\nthree\n\nnew\n\nshape\n\ncell');
  });

  it.each([
    [
      'a moved part',
      `${paragraph('a')}<w:moveFrom>${paragraph('b')}</w:moveFrom>${paragraph('c')}`,
      'a\n\nc',
    ],
    ['signs that are deleted', '<w:p><w:t>a</w:t><w:del><w:tab/></w:del><w:t>b</w:t></w:p>', 'ab'],
    [
      'a hyphen and a line',
      '<w:p><w:t>a</w:t><w:noBreakHyphen/><w:t>b</w:t><w:cr/><w:t>c</w:t></w:p>',
      'a\u2011b\nc',
    ],
    ['an empty text element', '<w:p><w:t/><w:x>a</w:x><w:t>b</w:t></w:p>', 'b'],
    ['characters by their numbers', paragraph('&#x47;&#246;&lt;&amp;'), 'Gö<&'],
  ])('with %s', async (_, body, text) => {
    expect(await getBodyText(body)).toBe(text);
  });

  it.each([
    ['names', 'main.xml', { 'main.xml': ONE, 'word/document.xml': OTHER }],
    ['names from the root', '/a/main.xml', { 'a/main.xml': ONE, 'word/document.xml': OTHER }],
    ['names but does not have', 'gone.xml', { 'word/document.xml': ONE }],
  ])('is in the main part that the file %s', async (_, target, parts) => {
    expect(await getText(makeZip({ '_rels/.rels': makeRelations(target), ...parts }))).toBe('one');
  });

  it('is in the usual part of a file that names no main part', async () => {
    const thumbnail =
      '<Relationship Type="…/thumbnail" Target="other.xml"/><Other Type="/officeDocument" Target="other.xml"/>';
    const parts = { 'word/document.xml': ONE, 'other.xml': OTHER };
    expect(await getText(makeZip(parts))).toBe('one');
    for (const relations of [
      '',
      '<Relationships><Relationship/></Relationships>',
      `<Relationships>${thumbnail}</Relationships>`,
    ]) {
      expect(await getText(makeZip({ '_rels/.rels': relations, ...parts }))).toBe('one');
    }
  });

  it('is not read without its main part', async () => {
    await expect(getText(makeZip({ 'a.xml': ONE }))).rejects.toThrow(
      'the archive has no part word/document.xml',
    );
  });

  it('is found behind at most a mebibyte of relations', async () => {
    const parts = { 'main.xml': ONE, 'word/document.xml': OTHER };
    const behind = (blanks: number) =>
      makeZip(
        { '_rels/.rels': `${' '.repeat(blanks)}${makeRelations('main.xml')}`, ...parts },
        { method: 8 },
      );
    expect(await getText(behind(2 ** 20))).toBe('one');
    expect(await getText(behind(2 ** 21))).toBe('other');
  });

  it.each([
    ['UTF-8', Buffer.from(makeWordXml(paragraph('Größe')))],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${makeWordXml(paragraph('Größe'))}`)],
    ['UTF-16', Buffer.from(`\ufeff${makeWordXml(paragraph('Größe'))}`, 'utf16le')],
    ['big-endian UTF-16', Buffer.from(`\ufeff${makeWordXml(paragraph('Größe'))}`, 'utf16le').swap16()],
  ])('is decoded from %s', async (_, part) => {
    expect(await getText(makeZip({ 'word/document.xml': part }))).toBe('Größe');
  });

  it('is decoded over the ends of pieces', async () => {
    const text = `a${'ß'.repeat(50_000)}`;
    expect(await getText(makeZip({ 'word/document.xml': makeWordXml(paragraph(text)) }, { method: 8 }))).toBe(
      text,
    );
  });

  it.each([
    ['a character', Buffer.from('<w:t>a &am'), 'a &am'],
    ['the bytes of a character', Buffer.from('<w:t>aß').subarray(0, -1), 'a\ufffd'],
  ])('is complete up to an end within %s', async (_, part, text) => {
    expect(await getText(makeZip({ 'word/document.xml': part }))).toBe(text);
  });

  it('is limited in its bytes and its depth, and by the unpacked bytes of all parts', async () => {
    const bytes = makeWordOfBody(paragraph('one'));
    expect(await getText(bytes, { ...WIDE_LIMITS, maxTextBytes: 5 })).toBe('one');
    const exceed = (excess: string, limits: object) =>
      expect(getText(bytes, { ...WIDE_LIMITS, ...limits })).rejects.toMatchObject({ excess });
    await exceed('text', { maxTextBytes: 4 });
    const unpacked = Buffer.byteLength(ONE) + Buffer.byteLength(makeRelations('word/document.xml'));
    expect(await getText(bytes, { ...WIDE_LIMITS, maxDecodedBytes: unpacked })).toBe('one');
    await exceed('decoded', { maxDecodedBytes: unpacked - 1 });
    const nested = (depth: number) => `${'<w:x>'.repeat(depth)}<w:t>a</w:t>${'</w:x>'.repeat(depth)}`;
    // The document, its body and the text are elements, too.
    expect(await getBodyText(nested(9997))).toBe('a');
    expect(await getBodyText('<w:t>a</w:t>'.repeat(10_000))).toBe('a'.repeat(10_000));
    await expect(getBodyText(nested(9998))).rejects.toMatchObject({ excess: 'depth' });
  });
});
