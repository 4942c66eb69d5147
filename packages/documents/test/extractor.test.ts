import { afterAll, describe, expect, it } from 'vitest';
import { createDocumentExtractor } from '../src/index.ts';
import { makePdf, makeWord } from './make.ts';

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

  it('reads the text and the keywords of a web page', async () => {
    const page = '<title>T</title><meta name="keywords" content="a, b"><p>One<p>Two';
    expect(await extractor.extract(Buffer.from(page), HTML)).toEqual({
      text: 'T\n\nOne\n\nTwo',
      tags: ['a', 'b'],
    });
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
