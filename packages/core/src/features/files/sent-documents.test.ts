import { describe, expect, it } from 'vitest';
import { setUp } from '../../../test/files-reader.ts';
import type { ModelInfo } from '../../ports/models.ts';
import type { ReadOutcome } from './documents.ts';

const PDF = 'application/pdf';
const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const toBase64 = (bytes: string) => Buffer.from(bytes, 'latin1').toString('base64');
const toText = (text: string, name = 'a.csv') => ({
  content: { type: 'document', mediaType: 'text/plain', name, data: Buffer.from(text).toString('base64') },
});

/** Converts the bytes, written in latin1. */
async function convert(
  contentType: string,
  bytes: string,
  { name = 'a.csv', outcome, ...model }: { name?: string; outcome?: ReadOutcome } & Partial<ModelInfo> = {},
) {
  const { reader, calls, incidents } = await setUp(outcome);
  const { signal } = new AbortController();
  const sent = { contentType, data: toBase64(bytes), name };
  const converted = await reader.convert('ada', sent, model as ModelInfo, { signal });
  return { converted, calls, incidents, signal };
}

describe('text inside of a request', () => {
  it.each([
    ['UTF-8', 'text/csv', 'Gr\xc3\xb6\xc3\x9fe', 'Größe'],
    ['the encoding of spreadsheets', 'text/csv', 'Gr\xf6\xdfe', 'Größe'],
    ['UTF-16 with a byte order mark', 'text/csv', '\xff\xfeG\x00r\x00', 'Gr'],
    ['the encoding that its type names', 'text/csv; charset=ISO-8859-2', '\xb1\xe6', 'ąć'],
    ['an encoding in quotes', 'text/csv;charset="iso-8859-2"', '\xb1\xe6', 'ąć'],
    ['no known encoding', 'text/csv; charset=none', 'Gr\xf6\xdfe', 'Größe'],
    ['a type of programs', 'Application/YAML', 'a: \xc3\xb6', 'a: ö'],
    ['the source of a page', 'text/html', '<p>\xc3\xb6', '<p>ö'],
  ])('in %s is sent in UTF-8', async (_title, type, bytes, text) => {
    const { converted, calls } = await convert(type, bytes);
    expect(converted).toEqual(toText(text));
    expect(calls).toEqual([]);
  });

  it('is known by its name, where the type says nothing, and it has no zeros', async () => {
    const type = 'application/octet-stream';
    const source = await convert(type, 'let a', { name: 'a.ts' });
    expect(source.converted).toEqual(toText('let a', 'a.ts'));
    const bytes = await convert(type, '\x00', { name: 'a.ts' });
    expect(bytes.converted).toEqual({
      content: { type: 'document', mediaType: type, name: 'a.ts', data: 'AA==' },
    });
  });
});

describe('another document inside of a request', () => {
  const unchanged = (mediaType: string) => ({
    content: { type: 'document', mediaType, name: 'a.csv', data: toBase64('bytes') },
  });

  it.each<[string, Partial<ModelInfo>]>([
    ['of unknown abilities', {}],
    ['that reads documents', { inputModalities: ['text', 'document'] }],
  ])('stays a PDF for a model %s', async (_title, model) => {
    const { converted, calls } = await convert(PDF, 'bytes', model);
    expect([converted, calls]).toEqual([unchanged(PDF), []]);
  });

  it.each<[string, Partial<ModelInfo>]>([
    [PDF, { inputModalities: ['text', 'image'] }],
    [WORD, { inputModalities: ['text', 'document'] }],
    [WORD, {}],
  ])('becomes its text, in a slot of its user: %s for %j', async (type, model) => {
    const { converted, calls, signal } = await convert(type, 'bytes', model);
    expect(converted).toEqual(toText('hello'));
    expect(calls).toEqual([['bytes', { mimeType: type, name: 'a.csv' }, { signal, owner: 'ada' }]]);
  });

  it('stays as it is if no extractor reads it', async () => {
    const { converted, incidents } = await convert(WORD, 'bytes', { outcome: { status: 'unsupported' } });
    expect([converted, incidents]).toEqual([unchanged(WORD), []]);
  });

  it.each<[ReadOutcome, string]>([
    [{ status: 'read', text: ' \n' }, 'a.csv has no text.'],
    [{ status: 'refused', reason: 'it is too long' }, 'a.csv could not be read: it is too long.'],
    [
      { status: 'unreadable', cause: 1 },
      'a.csv could not be read: the document is damaged, or of another type.',
    ],
    [{ status: 'unavailable', cause: 1 }, 'a.csv could not be read: try again shortly.'],
  ])('is refused with a reason: %j', async (outcome, refusal) => {
    const { converted, incidents } = await convert(WORD, 'bytes', { outcome });
    expect(converted).toEqual({ refusal });
    const error = 'cause' in outcome ? [{ operation: 'files.extract', requestId: '', error: 1 }] : [];
    expect(incidents).toEqual(error);
  });
});
