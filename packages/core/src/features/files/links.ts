import { canRead } from '../../access/access.ts';
import { type LinkReader, toIdSet } from '../../access/links.ts';
import type { Store } from '../../ports/store.ts';
import { FILES } from './records.ts';

/** Returns the files that a user may attach to sessions and projects; delegates every other reference. */
export function withFileLinks(store: Store, others: LinkReader): LinkReader {
  const files = store.collection(FILES);
  return {
    findReadable: async (kind, ids, userId) =>
      kind === 'file'
        ? toIdSet(await files.find({ id: { in: ids }, ...canRead(userId) }))
        : others.findReadable(kind, ids, userId),
    findExisting: async (kind, ids) =>
      kind === 'file' ? toIdSet(await files.find({ id: { in: ids } })) : others.findExisting(kind, ids),
  };
}
