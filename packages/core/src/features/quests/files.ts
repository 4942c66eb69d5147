import type { QuestRecord } from '../../runs/records.ts';
import type { FileLibrary } from '../files/library.ts';
import type { WireQuest } from './contract.ts';

/** Returns the files of a quest, with signed URLs, to every reader of the quest. Omits deleted files. */
export async function getFiles(
  library: FileLibrary,
  { files = [], ownerId }: QuestRecord,
  mountPath: string,
): Promise<WireQuest['files']> {
  const linked = await Promise.all(
    files.map(async ({ fileId, ...file }) => {
      const record = await library.get(ownerId, fileId);
      const link = record && (await library.link(record, mountPath));
      return link && { ...file, url: link.url };
    }),
  );
  return linked.filter((file) => file !== undefined);
}
