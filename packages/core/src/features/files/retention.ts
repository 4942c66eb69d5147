import { createOwnerRetention } from '../../operations/owner-retention.ts';
import type { RemovalCheck, RetentionRule } from '../../operations/retention.ts';
import { type FileServices, takeFile } from './handlers.ts';
import { FILES } from './records.ts';

/** After the moderation. What was announced and never uploaded deletes itself. */
const DECIDED = { status: { in: ['clean', 'blocked'] } } as const;

export function fileRetention(services: Pick<FileServices, 'store' | 'queue' | 'objects'>): RetentionRule {
  const { store } = services;
  const files = store.collection(FILES);
  const remove = async (id: string, { before, isInUse }: RemovalCheck): Promise<boolean> => {
    const guard = { createdAt: { lt: before }, ...DECIDED };
    const file = await files.get(id, guard);
    return file !== undefined && (await takeFile(services, file, { guard, isInUse })) !== undefined;
  };
  return {
    kind: 'files',
    byAge: {
      async find(before, limit, after) {
        const old = await files.find(
          { createdAt: { lt: before }, ...DECIDED },
          {
            order: { field: 'createdAt', direction: 'asc' },
            limit,
            ...(after !== undefined && { after: { value: after.time, id: after.id } }),
          },
        );
        return old.map(({ id, createdAt }) => ({ id, time: createdAt }));
      },
      remove,
    },
    byGroup: createOwnerRetention(store, {
      count: (ownerId, createdAt) => files.count({ ownerId, createdAt, ...DECIDED }),
      find: (ownerId, createdAt, page) =>
        files.find(
          { ownerId, createdAt, ...DECIDED },
          { order: { field: 'createdAt', direction: 'desc' }, ...page },
        ),
      remove,
    }),
  };
}
