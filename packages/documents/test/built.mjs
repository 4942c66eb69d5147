/** What is built reads a document too, as either kind of module: the thread's file is found by its path. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const modules = [
  await import('@questline/documents'),
  createRequire(import.meta.url)('@questline/documents'),
];
for (const { createDocumentExtractor } of modules) {
  const page = { mimeType: 'text/html', name: 'page' };
  const { text } = await createDocumentExtractor().extract(Buffer.from('<p>Hello</p>'), page);
  assert.equal(text, 'Hello');
}
