import { createMemoryStore } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import type { CollectionDefinition } from '../ports/store.ts';
import {
  canRead,
  canWrite,
  isReader,
  isSharedWith,
  SHARING_COLUMNS,
  type ShareableRecord,
  sharedAs,
  whose,
} from './access.ts';

const SHARED: CollectionDefinition<ShareableRecord> = {
  ...{ name: 'shared', columns: { ...SHARING_COLUMNS }, unique: [], indexes: [] },
};
const RECORD = { id: 'r', ownerId: 'owner', readerIds: ['reader', 'both'], writerIds: ['writer', 'both'] };

/** What each user may do with the record. */
const RIGHTS = [
  ['owner', { reads: true, writes: true, isShared: false }],
  ['reader', { reads: true, writes: false, isShared: true }],
  ['writer', { reads: true, writes: true, isShared: true }],
  ['both', { reads: true, writes: true, isShared: true }],
  ['stranger', { reads: false, writes: false, isShared: false }],
  ['', { reads: false, writes: false, isShared: false }],
] as const;

describe('rights on a record that is shared', () => {
  it.each(RIGHTS)('of "%s" are the same for a query and for a record at hand', async (user, rights) => {
    const records = createMemoryStore().collection(SHARED);
    await records.insert(RECORD);
    const finds = async (filter: object) => (await records.find(filter)).length === 1;
    expect(await finds(canRead(user))).toBe(rights.reads);
    expect(isReader(RECORD, user)).toBe(rights.reads);
    expect(await finds(canWrite(user))).toBe(rights.writes);
    expect(await finds(isSharedWith(user))).toBe(rights.isShared);
    expect(await finds(whose(user, 'true'))).toBe(rights.isShared);
    for (const own of ['false', undefined] as const) {
      expect(await finds(whose(user, own))).toBe(user === RECORD.ownerId);
    }
  });

  it('are those of the owner alone where a record has no lists', () => {
    const own = { id: 'r', ownerId: 'owner' };
    expect(['owner', 'reader'].map((user) => isReader(own, user))).toEqual([true, false]);
    expect(sharedAs(own, 'reader', 'true')).toEqual({ permission: 'read' });
  });

  it('are shown in the list of shared records only', () => {
    const permissions = ['reader', 'writer', 'both'].map((user) => sharedAs(RECORD, user, 'true'));
    expect(permissions).toEqual([{ permission: 'read' }, { permission: 'write' }, { permission: 'write' }]);
    expect([sharedAs(RECORD, 'writer', 'false'), sharedAs(RECORD, 'writer', undefined)]).toEqual([{}, {}]);
  });
});
