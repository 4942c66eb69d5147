import { describe, expect, it } from 'vitest';
import type { FileLibrary } from '../files/library.ts';
import { distinctSources, findFileParts, getCreatedFiles, toQuestPart, toSourceParts } from './ui-data.ts';

const citation = (id: string, name = id) => ({ file_id: id, file_name: name });
const source = (id: string) => ({
  ...{
    type: 'source-document',
    sourceId: id,
    mediaType: 'application/octet-stream',
    title: id,
    filename: id,
  },
});

describe('the parts of a message', () => {
  it('have the state of the quest', () => {
    const quest = { id: 'q', sessionId: 's', status: 'done' } as const;
    expect(toQuestPart(quest)).toStrictEqual({ type: 'data-quest', id: 'quest', data: quest });
    const more = { type: 'error', stopReason: 'stop', errorCode: 'insufficient_credits' } as const;
    expect(toQuestPart({ ...quest, ...more }).data).toStrictEqual({ ...quest, ...more });
    expect(toQuestPart({ ...quest, errorCode: 'provider_error' }).data).toStrictEqual(quest);
  });

  it('have the sources of citations, each once', () => {
    const payload = { type: 'citations', payload: [citation('a'), citation('b')] } as never;
    expect(toSourceParts(payload)).toEqual([source('a'), source('b')]);
    expect(toSourceParts({ type: 'citations', payload: 'x' } as never)).toEqual([]);
    expect(toSourceParts({ type: 'image', payload: [citation('a')] } as never)).toEqual([]);
    const again = { type: 'citations', payload: [citation('b'), citation('c')] } as never;
    expect(distinctSources([payload, again])).toEqual([source('a'), source('b'), source('c')]);
  });

  it('have the files that the answer created', () => {
    const toolPayloads = [
      { type: 'image', payload: { fileId: 'b' } },
      { type: 'image', payload: { fileId: 'a' } },
      { type: 'image', payload: {} },
      { type: 'image' },
      { type: 'citations', payload: { fileId: 'c' } },
    ];
    expect(getCreatedFiles({ files: [{ fileId: 'a' }], toolPayloads } as never)).toEqual(['a', 'b']);
    expect(getCreatedFiles({} as never)).toEqual([]);
  });

  it('have links to files', async () => {
    const asked: unknown[] = [];
    const library = {
      async getAll(userId, ids) {
        asked.push([userId, ids.length]);
        return new Map(ids.map((id) => [id, { id, name: `${id}.png`, mimeType: 'image/png' } as never]));
      },
      link: async ({ id }, mountPath) =>
        id === '7' ? undefined : { url: `${mountPath}/${id}`, expiresAt: 0 },
    } as Partial<FileLibrary> as FileLibrary;
    const ids = Array.from({ length: 1001 }, (_, at) => `${at}`);
    const parts = await findFileParts(library, { userId: 'ada', mountPath: '/m' }, ids);
    expect(asked).toEqual([
      ['ada', 1000],
      ['ada', 1],
    ]);
    expect([parts.size, parts.has('7')]).toEqual([1000, false]);
    expect(parts.get('3')).toEqual({
      ...{ type: 'file', mediaType: 'image/png', filename: '3.png', url: '/m/3' },
      providerMetadata: { questline: { fileId: '3' } },
    });
  });
});
