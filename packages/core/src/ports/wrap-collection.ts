import { removeWhere } from './remove-where.ts';
import type { Collection, StoredRecord } from './store.ts';

/**
 * A collection with some operations replaced, and the others passed on. Unlike a spread it keeps the methods of a
 * prototype.
 */
export function wrapCollection<R extends StoredRecord>(
  collection: Collection<R>,
  changes: Partial<Pick<Collection<R>, 'insert' | 'update' | 'add' | 'take' | 'removeWhere'>>,
): Collection<R> {
  return {
    get: (id, guard, options) => collection.get(id, guard, options),
    find: (filter, options) => collection.find(filter, options),
    count: (filter, options) => collection.count(filter, options),
    insert: changes.insert ?? ((record, options) => collection.insert(record, options)),
    update: changes.update ?? ((id, patch, guard, options) => collection.update(id, patch, guard, options)),
    add: changes.add ?? ((id, deltas, guard, options) => collection.add(id, deltas, guard, options)),
    take: changes.take ?? ((id, guard, options) => collection.take(id, guard, options)),
    removeWhere: changes.removeWhere ?? ((filter, options) => removeWhere(collection, filter, options)),
  };
}
