import type { RemovalCheck, RetentionRule } from '../../operations/retention.ts';
import { createTimedRetention } from '../../operations/timed-retention.ts';
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
    ...createTimedRetention(store, { collection: files, time: 'createdAt', where: DECIDED, remove }),
  };
}
