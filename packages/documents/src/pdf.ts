import { createTextCollector, ExcessError } from './excess.ts';
import type { ReadingLimits } from './limits.ts';

/** Reads all pages in sequence. A scanned page has no text. @param bytes ownership passes to the parser. */
export async function readPdf(bytes: Uint8Array<ArrayBuffer>, limits: ReadingLimits): Promise<string> {
  // Imported with the first PDF: it is large.
  const { getDocumentProxy } = await import('unpdf');
  // Text needs no fonts or colors; the image limit prevents the decoding of images.
  const document = await getDocumentProxy(bytes, {
    disableFontFace: true,
    maxImageSize: 1,
    verbosity: 0,
  });
  try {
    if (document.numPages > limits.maxPages) throw new ExcessError('pages');
    const text = createTextCollector(limits);
    for (let number = 1; number <= document.numPages; number += 1) {
      const page = await document.getPage(number);
      const { items } = await page.getTextContent();
      if (number > 1) text.add('\n\n');
      for (const item of items) if ('str' in item) text.add(item.hasEOL ? `${item.str}\n` : item.str);
      page.cleanup();
    }
    return text.join().trim();
  } finally {
    await document.loadingTask.destroy();
  }
}
