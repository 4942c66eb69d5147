/** The text of all pages, in order. Of a scanned page there is none. @param bytes are taken over. */
export async function textOfPdf(bytes: Uint8Array, mostPages: number): Promise<string> {
  // Loaded at the first PDF: it is large.
  const { extractText, getDocumentProxy } = await import('unpdf');
  // Fonts and colours are for drawing.
  const document = await getDocumentProxy(bytes, { disableFontFace: true, verbosity: 0 });
  try {
    if (document.numPages > mostPages) {
      throw new RangeError(`a PDF of ${document.numPages} pages, and at most ${mostPages} are read`);
    }
    const { text } = await extractText(document, { mergePages: false });
    return text.join('\n\n').trim();
  } finally {
    await document.loadingTask.destroy();
  }
}
