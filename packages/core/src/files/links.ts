import type { Store } from '../ports/store.ts';
import type { LinkReader } from '../sessions/links.ts';
import { canRead } from '../sharing/access.ts';
import { FILES } from './records.ts';

/** Knows which files a user may attach to sessions and projects; asks on about everything else. */
export function withFileLinks(store: Store, others: LinkReader): LinkReader {
  const files = store.collection(FILES);
  return {
    isReadable: async (kind, id, userId) =>
      kind === 'file'
        ? (await files.get(id, canRead(userId))) !== undefined
        : others.isReadable(kind, id, userId),
  };
}
