import { defineCollection, type Filter, type FindOptions, type StoredRecord } from '@questline/core/ports';
import { expect, it, onTestFinished } from 'vitest';
import { createSqlStore, migrate } from '../src/index.ts';
import { createSqliteDatabase } from '../src/sqlite/database.ts';
import type { SqlStatement } from '../src/statement.ts';

interface Letter extends StoredRecord {
  readonly ownerId: string;
  readonly state: string;
  readonly writtenAt: number;
}

const letters = defineCollection<Letter>({
  name: 'letters',
  columns: { ownerId: 'text', state: 'text', writtenAt: 'integer' },
  unique: [],
  indexes: [
    ['ownerId', 'writtenAt'],
    ['state', 'writtenAt'],
  ],
});

const byTime = { field: 'writtenAt', direction: 'desc' } as const;

const LISTS: readonly (readonly [string, Filter<Letter>, FindOptions<Letter>, boolean])[] = [
  ['of one owner, in the order of an index', { ownerId: 'o' }, { order: byTime }, true],
  ['of its next page', { ownerId: 'o' }, { order: byTime, after: { value: 1, id: 'a' } }, true],
  ['of one owner with another value', { ownerId: 'o', state: 'sent' }, { order: byTime }, true],
  ['of a state, which most records may have', { state: 'sent' }, { order: byTime }, false],
  ['of one owner, in another order', { ownerId: 'o' }, {}, false],
  ['of several owners', { ownerId: { in: ['o', 'p'] } }, { order: byTime }, false],
  ['of one owner and some states', { ownerId: 'o', state: { in: ['sent'] } }, { order: byTime }, false],
  ['of either', { anyOf: [{ ownerId: 'o' }, { state: 'sent' }] }, { order: byTime }, false],
  ['of an owner, with alternatives', { ownerId: 'o', anyOf: [{ state: 'sent' }] }, { order: byTime }, false],
  ['of all', {}, { order: byTime }, false],
];

it.each(LISTS)('plans a list %s once or for its values', async (_name, filter, options, isPrepared) => {
  const sqlite = createSqliteDatabase({ path: ':memory:' });
  onTestFinished(() => sqlite.close());
  await migrate(sqlite, { collections: [letters] });
  const statements: SqlStatement[] = [];
  const database: typeof sqlite = {
    ...sqlite,
    run(statement, ...rest) {
      statements.push(statement);
      return sqlite.run(statement, ...rest);
    },
  };
  await createSqlStore(database).collection(letters).find(filter, options);
  expect(statements.map(({ name }) => name !== undefined)).toEqual([isPrepared]);
});
