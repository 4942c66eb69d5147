import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createDocumentExtractor } from '../src/index.ts';
import { makePdf, makeWord } from './make.ts';

const extractor = createDocumentExtractor({ mostPages: 3, mostUnpackedBytes: 10_000 });
const PDF = { mimeType: 'application/pdf', name: 'a' };
const WORD = {
  mimeType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  name: 'a',
};
const HTML = { mimeType: 'text/html', name: 'a' };

async function textOf(bytes: Uint8Array, type: typeof PDF): Promise<string> {
  return (await extractor.extract(bytes, type)).text;
}

describe('the document extractor', () => {
  it('knows what it reads, by type and, where that says nothing, by name', () => {
    for (const type of [PDF, WORD, HTML, { ...HTML, mimeType: 'application/xhtml+xml' }]) {
      expect(extractor.reads(type)).toBe(true);
    }
    const unnamed = (name: string) => extractor.reads({ mimeType: 'application/octet-stream', name });
    expect([unnamed('a.PDF'), unnamed('b.docx'), unnamed('c.htm'), unnamed('d.exe'), unnamed('pdf')]).toEqual(
      [true, true, true, false, true],
    );
    expect(extractor.reads({ mimeType: 'text/plain', name: 'a.pdf' })).toBe(false);
  });

  it('reads the pages of a PDF, and leaves its bytes to others', async () => {
    const bytes = makePdf(['The first page (of two)', 'And the second']);
    const before = Buffer.from(bytes);
    expect(await textOf(bytes, PDF)).toBe('The first page (of two)\n\nAnd the second');
    expect(Buffer.from(bytes).equals(before)).toBe(true);
  });

  it('reads the paragraphs of a Word file', async () => {
    expect(await textOf(makeWord(['Größe & <Form>', 'Second']), WORD)).toBe('Größe & <Form>\n\nSecond');
  });

  it('reads what a visitor of a page sees, and its keywords', async () => {
    const page = `<!doctype html><html><head><title>My &amp; page</title><meta name="Keywords" content="a, b c,,">
      <style>p { color: red }</style></head><body><h1>Head</h1><p>One<br>two &lt;three&gt;</p>
      <script>alert('no')</script><table><tr><td>x</td><td>y</td></tr></table><p>open`;
    const { text, tags } = await extractor.extract(Buffer.from(page), HTML);
    expect(text).toBe('My & page\n\nHead\n\nOne\ntwo <three>\n\nx y\n\nopen');
    expect(tags).toEqual(['a', 'b c']);
  });

  it('reads a page in the encoding it names', async () => {
    const page = Buffer.from('<meta charset="iso-8859-1"><p>Gr\u00f6\u00dfe</p>', 'latin1');
    expect(await textOf(page, HTML)).toBe('Größe');
  });

  it('refuses what is too large, broken, or something else', async () => {
    await expect(textOf(makePdf(['1', '2', '3', '4']), PDF)).rejects.toThrow('4 pages');
    await expect(textOf(makeWord(['small'], 4_000_000), WORD)).rejects.toThrow('unpacks to 12000000 bytes');
    await expect(textOf(Buffer.from('no pdf'), PDF)).rejects.toThrow();
    await expect(textOf(Buffer.from('no zip at all, but longer than its end'), WORD)).rejects.toThrow('ZIP');
    await expect(textOf(Buffer.from('PK'), WORD)).rejects.toThrow('ZIP');
    await expect(textOf(Buffer.from('x'), { mimeType: 'text/plain', name: 'x' })).rejects.toThrow(TypeError);
  });

  it('stops when it is told to', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(extractor.extract(makePdf(['1']), PDF, { signal })).rejects.toThrow('enough');
  });
});

/** Paragraphs of a large document: a second of work, and many megabytes of it. */
const MANY = Array.from({ length: 10_000 }, (_, number) => `Paragraph ${number} says a few words.`);

describe('the thread that reads', () => {
  it.each([
    ['a PDF', makePdf(MANY.slice(0, 1000)), PDF, 'Paragraph 999 says'],
    ['a Word file', makeWord(MANY), WORD, 'Paragraph 9999 says'],
    [
      'a page',
      Buffer.from(
        MANY.map((text) => `<p>${text}</p>`)
          .join('')
          .repeat(10),
      ),
      HTML,
      'Paragraph 9999 says',
    ],
  ])('leaves the host its own while %s is read', async (_, bytes, type, last) => {
    const one = createDocumentExtractor();
    // So that what is measured is the reading, and not the beginning.
    await one.extract(bytes, type);
    const before = performance.eventLoopUtilization();
    const { text } = await one.extract(bytes, type);
    // Of the time it takes, the host is free for more than half: it reads nothing itself.
    expect(performance.eventLoopUtilization(before).utilization).toBeLessThan(0.5);
    expect(text).toContain(last);
  });

  it('ends with a document that takes too much memory, and reads the next ones', async () => {
    const small = createDocumentExtractor({ mostMemory: 48 });
    const outcomes = await Promise.allSettled([
      small.extract(makePdf(['before']), PDF),
      small.extract(makeWord([...MANY, ...MANY, ...MANY, ...MANY]), WORD),
      small.extract(makePdf(['after']), PDF),
    ]);
    expect(outcomes).toMatchObject([
      { value: { text: 'before' } },
      { reason: new RangeError('it takes more than 48 MiB to read') },
      { value: { text: 'after' } },
    ]);
  });

  it('ends with a document that takes too long, and with that one only', async () => {
    const hasty = createDocumentExtractor({ mostMs: 1 });
    const tooLong = new RangeError('it takes longer than 1 ms to read');
    const both = [hasty.extract(makeWord(MANY), WORD), hasty.extract(makeWord(MANY), WORD)];
    expect(await Promise.allSettled(both)).toMatchObject([{ reason: tooLong }, { reason: tooLong }]);
  });

  it('stops when it is told to, and drops what it was told of while it waited', async () => {
    const one = createDocumentExtractor();
    const [read, wait] = [new AbortController(), new AbortController()];
    const outcomes = Promise.allSettled([
      one.extract(makeWord(MANY), WORD, { signal: read.signal }),
      one.extract(makePdf(['waiting']), PDF, { signal: wait.signal }),
      one.extract(makePdf(['last']), PDF),
    ]);
    await turn();
    wait.abort(new Error('not that one'));
    read.abort(new Error('nor that'));
    expect(await outcomes).toMatchObject([
      { reason: new Error('nor that') },
      { reason: new Error('not that one') },
      { value: { text: 'last' } },
    ]);
  });

  it('keeps no process alive', async () => {
    const resources = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
    const before = resources();
    const one = createDocumentExtractor();
    const reading = one.extract(makePdf(['1']), PDF);
    expect(resources()).toBeGreaterThan(before);
    await reading;
    expect(resources()).toBe(before);
  });
});
