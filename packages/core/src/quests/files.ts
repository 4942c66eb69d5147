import type { FileLibrary } from '../files/library.ts';
import type { WireQuest } from './contract.ts';
import type { QuestRecord } from './records.ts';

/** The files a quest has made, with fresh addresses. Whoever may read the quest may; one that was deleted is left out. */
export async function filesOf(
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
