import { afterAll, describe, expect, it } from 'vitest';
import { createDocumentExtractor } from '../src/index.ts';
import { makePdf, makeWord, makeWordOfBody } from './make.ts';

const extractor = createDocumentExtractor({ maxPages: 3, maxDecodedBytes: 4_000_000 });
const PDF = { mimeType: 'application/pdf', name: 'a' };
const WORD = {
  mimeType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  name: 'a',
};
const HTML = { mimeType: 'text/html', name: 'a' };

afterAll(() => extractor.close?.());

async function getText(bytes: Uint8Array, type: typeof PDF): Promise<string> {
  return (await extractor.extract(bytes, type)).text;
}

describe('document extractor', () => {
  it('recognizes files by type and, for a generic type, by name', () => {
    for (const type of [PDF, WORD, HTML, { ...HTML, mimeType: 'application/xhtml+xml' }]) {
      expect(extractor.reads(type)).toBe(true);
    }
    const unnamed = (name: string) => extractor.reads({ mimeType: 'application/octet-stream', name });
    expect([unnamed('a.PDF'), unnamed('b.docx'), unnamed('c.htm'), unnamed('d.exe'), unnamed('pdf')]).toEqual(
      [true, true, true, false, true],
    );
    expect(extractor.reads({ mimeType: 'text/plain', name: 'a.pdf' })).toBe(false);
  });

  it('reads the pages of a PDF and leaves its bytes unchanged', async () => {
    const bytes = makePdf(['The first page (of two)', 'And the second']);
    const before = Buffer.from(bytes);
    expect(await getText(bytes, PDF)).toBe('The first page (of two)\n\nAnd the second');
    expect(Buffer.from(bytes).equals(before)).toBe(true);
  });

  it('reads the paragraphs of a Word file', async () => {
    expect(await getText(makeWord(['Größe & <Form>', 'Second']), WORD)).toBe('Größe & <Form>\n\nSecond');
  });

  it('reads the visible text of a Word file: accepted changes, tabs and lines, without fallback shapes', async () => {
    const body = `<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>one</w:t><w:tab/><w:t xml:space="preserve"> two</w:t>
      <w:br/><w:t>three</w:t></w:r></w:p><w:p><w:del><w:r><w:delText>gone</w:delText><w:t>gone</w:t></w:r></w:del>
      <w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>
      <mc:AlternateContent><mc:Choice><w:p><w:r><w:t>shape</w:t></w:r></w:p></mc:Choice>
      <mc:Fallback><w:p><w:r><w:t>shape</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>
      <w:tbl><w:tr><w:tc><w:p><w:r><w:t>cell</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`;
    expect(await getText(makeWordOfBody(body), WORD)).toBe('one\t two\nthree\n\nnew\n\nshape\n\ncell');
  });

  it('reads the visible text and keywords of a web page', async () => {
    const page = `<!doctype html><html><head><title>My &amp; page</title><meta name="Keywords" content="a, b c,,">
      <style>p { color: red }</style></head><body><h1>Head</h1><p>One<br>two &lt;three&gt;</p>
      <script>alert('no')</script><table><tr><td>x</td><td>y</td></tr></table><p>open`;
    const { text, tags } = await extractor.extract(Buffer.from(page), HTML);
    expect(text).toBe('My & page\n\nHead\n\nOne\ntwo <three>\n\nx y\n\nopen');
    expect(tags).toEqual(['a', 'b c']);
  });

  it('reads a page whose head has no end tag', async () => {
    expect(await getText(Buffer.from('<head><title>T</title><p>one</p>'), HTML)).toBe('T\n\none');
  });

  it('reads a page in its declared encoding', async () => {
    const page = Buffer.from('<meta charset="iso-8859-1"><p>Gr\u00f6\u00dfe</p>', 'latin1');
    expect(await getText(page, HTML)).toBe('Größe');
  });

  it('rejects a document that is too large, broken or of another type', async () => {
    await expect(getText(makePdf(['1', '2', '3', '4']), PDF)).rejects.toMatchObject({
      kind: 'limit',
      message: 'it has more than 3 pages',
    });
    await expect(getText(makeWord(['x'.repeat(5_000_000)]), WORD)).rejects.toMatchObject({
      kind: 'limit',
      message: 'it unpacks to more than 4 MiB',
    });
    await expect(getText(Buffer.from('no pdf'), PDF)).rejects.toMatchObject({ kind: 'unreadable' });
    await expect(getText(Buffer.from('no zip at all, but longer than its end'), WORD)).rejects.toThrow('ZIP');
    await expect(getText(Buffer.from('PK'), WORD)).rejects.toThrow('ZIP');
    await expect(getText(Buffer.from('x'), { mimeType: 'text/plain', name: 'x' })).rejects.toThrow(TypeError);
  });

  it('stops when the signal aborts', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(extractor.extract(makePdf(['1']), PDF, { signal })).rejects.toThrow('enough');
  });
});
