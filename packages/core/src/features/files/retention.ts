import type { RetentionRule } from '../../operations/retention.ts';
import { type FileServices, removeFile } from './handlers.ts';
import { FILES } from './records.ts';

export function fileRetention(services: Pick<FileServices, 'store' | 'queue' | 'objects'>): RetentionRule {
  const files = services.store.collection(FILES);
  return {
    kind: 'files',
    byAge: {
      count: (before) => files.count({ createdAt: { lt: before } }),
      find: (before, limit) =>
        files.find({ createdAt: { lt: before } }, { order: { field: 'createdAt', direction: 'asc' }, limit }),
      async remove(id) {
        const file = await files.get(id);
        if (file !== undefined) await removeFile(services, id, file.ownerId);
      },
    },
  };
}
