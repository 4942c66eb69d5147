/** The text of all pages, in order. Of a scanned page there is none. */
export async function textOfPdf(
  bytes: Uint8Array,
  mostPages: number,
  signal: AbortSignal | undefined,
): Promise<string> {
  // Loaded at the first PDF: it is large.
  const { extractText, getDocumentProxy } = await import('unpdf');
  // The reader takes the bytes over, so it gets a copy. Fonts and colours are for drawing.
  const document = await getDocumentProxy(new Uint8Array(bytes), { disableFontFace: true, verbosity: 0 });
  try {
    if (document.numPages > mostPages) {
      throw new RangeError(`a PDF of ${document.numPages} pages, and at most ${mostPages} are read`);
    }
    signal?.throwIfAborted();
    const { text } = await extractText(document, { mergePages: false });
    return text.join('\n\n').trim();
  } finally {
    await document.loadingTask.destroy();
  }
}
