import { describe, expect, it } from 'vitest';
import {
  IMAGE,
  MIB,
  MODEL,
  OTHER,
  SHARED,
  setUp,
  TEXT,
  toId,
  UNCHECKED,
} from '../../../test/files-reader.ts';
import type { ReadOutcome } from './documents.ts';

const UNKNOWN = toId(9);
const TEXT_FILE = { id: TEXT, name: '1.txt', mimeType: 'text/plain', isClean: true };
const document = (text: string) => [
  { type: 'document', mediaType: 'text/plain', name: '1.txt', data: Buffer.from(text).toString('base64') },
];

describe('files for models', () => {
  it('are found by users who may read them', async () => {
    const { reader } = await setUp();
    expect(await reader.find('ada', TEXT)).toEqual(TEXT_FILE);
    expect(await reader.find('ada', SHARED)).toMatchObject({ id: SHARED, isClean: true });
    expect(await reader.find('ada', UNCHECKED)).toMatchObject({ id: UNCHECKED, isClean: false });
    for (const id of [OTHER, UNKNOWN, '../1']) expect(await reader.find('ada', id)).toBeUndefined();
  });

  it('are found together, in one call', async () => {
    const { reader, countFinds } = await setUp();
    const found = await reader.findAll('ada', [TEXT, SHARED, OTHER, UNKNOWN, '../1']);
    expect([...found.keys()].sort()).toEqual([TEXT, SHARED]);
    expect(found.get(TEXT)).toEqual(TEXT_FILE);
    expect(countFinds()).toBe(1);
    expect((await reader.findAll('ada', ['../1'])).size).toBe(0);
    expect(countFinds()).toBe(1);
  });

  it('are found for several users, in one call', async () => {
    const { reader, countFinds } = await setUp();
    const found = await reader.findFor([
      { id: TEXT, userId: 'ada' },
      { id: SHARED, userId: 'ada' },
      { id: OTHER, userId: 'bob' },
      { id: IMAGE, userId: 'bob' },
      { id: '../1', userId: 'ada' },
    ]);
    expect((await reader.findFor([{ id: TEXT, userId: 'ada' }])).size).toBe(1);
    expect([...found.keys()].sort()).toEqual([TEXT, SHARED, OTHER]);
    expect(found.get(TEXT)).toEqual(TEXT_FILE);
    expect((await reader.findFor([{ id: '../1', userId: 'ada' }])).size).toBe(0);
    expect(countFinds()).toBe(2);
  });

  it('pass the options of their reading on', async () => {
    const { reader, calls } = await setUp();
    const { signal } = new AbortController();
    for await (const _one of reader.contents('ada', [TEXT], MODEL, { signal }));
    expect(calls[0]).toEqual([TEXT, { owner: 'ada', signal }]);
  });

  it('are read in the order of their ids, as the user who asks', async () => {
    const { read, calls } = await setUp();
    expect(await read([UNKNOWN, TEXT, UNCHECKED])).toStrictEqual([
      { id: UNKNOWN, content: undefined },
      { id: TEXT, content: document('hello') },
      { id: UNCHECKED, content: undefined },
    ]);
    expect(calls).toEqual([
      [TEXT, { owner: 'ada' }],
      [TEXT, 32 * MIB, { signal: undefined }],
    ]);
  });

  it('go unchanged to a model with vision as images', async () => {
    const { read, calls } = await setUp(undefined, Buffer.from('png'));
    const image = { type: 'image', mediaType: 'image/png', data: Buffer.from('png').toString('base64') };
    expect(await read([IMAGE])).toEqual([{ id: IMAGE, content: [image] }]);
    expect(calls).toEqual([[IMAGE, 20 * MIB, undefined]]);
    const blind = { ...MODEL, supportsVision: false };
    expect(await read([IMAGE], blind)).toEqual([{ id: IMAGE, content: undefined }]);
    expect(calls).toHaveLength(1);
  });

  it('have no content if their bytes are gone', async () => {
    const { read } = await setUp();
    expect(await read([IMAGE])).toEqual([{ id: IMAGE, content: undefined }]);
  });
});

describe('a text for a model', () => {
  const readText = async (outcome: ReadOutcome, model = MODEL) => {
    const { read, incidents } = await setUp(outcome);
    const [one] = await read([TEXT], model);
    return { one, incidents };
  };

  it('is cut at half of the context, between characters', async () => {
    const cut = '\n\n[The rest of this file was left out: it is too long.]';
    const read = async (text: string) => (await readText({ status: 'read', text })).one?.content;
    expect(await read('a'.repeat(10))).toEqual(document('a'.repeat(10)));
    expect(await read('a'.repeat(11))).toEqual(document(`${'a'.repeat(10)}${cut}`));
    expect(await read(`${'a'.repeat(9)}😀`)).toEqual(document(`${'a'.repeat(9)}\ufffd${cut}`));
  });

  it.each(['gone', 'unsupported', 'busy'] as const)('is absent: %s', async (status) => {
    const { one, incidents } = await readText({ status });
    expect([one, incidents]).toStrictEqual([{ id: TEXT, content: undefined }, []]);
  });

  it('is absent if it has no words', async () => {
    expect((await readText({ status: 'read', text: ' \n ' })).one).toEqual({ id: TEXT, content: undefined });
  });

  it.each(['unreadable', 'unavailable'] as const)('is absent, and the host hears why: %s', async (status) => {
    const cause = new Error('why');
    const { one, incidents } = await readText({ status, cause });
    expect(one).toEqual({ id: TEXT, content: undefined });
    expect(incidents).toEqual([{ operation: 'files.extract', requestId: '', error: cause }]);
  });

  it('is refused with a sentence for users', async () => {
    const refusal = '1.txt could not be read: it is too deep.';
    const { one, incidents } = await readText({ status: 'refused', reason: 'it is too deep' });
    expect([one, incidents]).toStrictEqual([{ id: TEXT, content: undefined, refusal }, []]);
  });
});
