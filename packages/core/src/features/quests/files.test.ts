import { expect, it } from 'vitest';
import type { QuestRecord } from '../../runs/records.ts';
import type { FileLibrary } from '../files/library.ts';
import { getFiles } from './files.ts';

const library = {
  get: async (ownerId: string, id: string) => (id === 'gone' ? undefined : { id, ownerId }),
  link: async ({ id, ownerId }: { id: string; ownerId: string }, mountPath: string) => ({
    url: `${mountPath}/${ownerId}/${id}`,
  }),
} as unknown as FileLibrary;

it('links the files of a quest as its owner, without deleted ones', async () => {
  const files = ['a', 'gone', 'b'].map((fileId) => ({
    fileId,
    name: `${fileId}.txt`,
    mimeType: 'text/plain',
  }));
  const quest = { ownerId: 'ada', files } as unknown as QuestRecord;
  expect(await getFiles(library, quest, '/ai')).toEqual([
    { name: 'a.txt', mimeType: 'text/plain', url: '/ai/ada/a' },
    { name: 'b.txt', mimeType: 'text/plain', url: '/ai/ada/b' },
  ]);
  expect(await getFiles(library, { ownerId: 'ada' } as QuestRecord, '/ai')).toEqual([]);
});
