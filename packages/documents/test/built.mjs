/** The built package reads a document, as either kind of module: it finds the reader's file by its path. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const modules = [
  await import('@questline/documents'),
  createRequire(import.meta.url)('@questline/documents'),
];
for (const { createDocumentExtractor } of modules) {
  const page = { mimeType: 'text/html', name: 'page' };
  const extractor = createDocumentExtractor();
  const { text } = await extractor.extract(Buffer.from('<p>Hello</p>'), page);
  assert.equal(text, 'Hello');
  await extractor.close();
}
