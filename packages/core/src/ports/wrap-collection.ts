import { removeWhere } from './remove-where.ts';
import type { Collection, StoredRecord } from './store.ts';

/** The operations that a wrapper replaces. */
export type CollectionChanges<R extends StoredRecord> = Partial<
  Pick<Collection<R>, 'insert' | 'update' | 'add' | 'take' | 'removeWhere'>
>;

/**
 * A collection with some operations replaced, and the others passed on. Unlike a spread it keeps the methods of a
 * prototype.
 */
export function wrapCollection<R extends StoredRecord>(
  collection: Collection<R>,
  changes: CollectionChanges<R>,
): Collection<R> {
  return new WrappedCollection(collection, changes);
}

type Verb<R extends StoredRecord, K extends keyof Collection<R>> = NonNullable<Collection<R>[K]>;

/** A class, because transactions wrap collections per request, and an object of closures costs ten times as much. */
class WrappedCollection<R extends StoredRecord> implements Collection<R> {
  readonly #inner: Collection<R>;
  readonly #changes: CollectionChanges<R>;
  readonly getWithMatch?: Verb<R, 'getWithMatch'>;

  constructor(inner: Collection<R>, changes: CollectionChanges<R>) {
    this.#inner = inner;
    this.#changes = changes;
    if (inner.getWithMatch !== undefined) this.getWithMatch = inner.getWithMatch.bind(inner);
  }

  get(...given: Parameters<Collection<R>['get']>): ReturnType<Collection<R>['get']> {
    return this.#inner.get(...given);
  }

  find(...given: Parameters<Collection<R>['find']>): ReturnType<Collection<R>['find']> {
    return this.#inner.find(...given);
  }

  count(...given: Parameters<Collection<R>['count']>): Promise<number> {
    return this.#inner.count(...given);
  }

  insert(...given: Parameters<Collection<R>['insert']>): Promise<boolean> {
    return (this.#changes.insert ?? this.#inner.insert).apply(this.#inner, given);
  }

  update(...given: Parameters<Collection<R>['update']>): ReturnType<Collection<R>['update']> {
    return (this.#changes.update ?? this.#inner.update).apply(this.#inner, given);
  }

  add(...given: Parameters<Collection<R>['add']>): ReturnType<Collection<R>['add']> {
    return (this.#changes.add ?? this.#inner.add).apply(this.#inner, given);
  }

  take(...given: Parameters<Collection<R>['take']>): ReturnType<Collection<R>['take']> {
    return (this.#changes.take ?? this.#inner.take).apply(this.#inner, given);
  }

  removeWhere(...given: Parameters<Verb<R, 'removeWhere'>>): Promise<number> {
    const { removeWhere: changed } = this.#changes;
    return changed === undefined ? removeWhere(this.#inner, ...given) : changed(...given);
  }
}
