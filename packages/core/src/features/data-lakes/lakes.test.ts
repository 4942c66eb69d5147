import { expect, it } from 'vitest';
import { makeLake, toId } from '../../../test/lakes.ts';
import { anotherSlug, toSlug, toWireLake } from './lakes.ts';

it.each([
  ['My papers, 2026', 'my-papers-2026'],
  ['  Ünïcode--Ärger  ', 'unicode-arger'],
  ['東京', 'lake'],
  ['x'.repeat(65), 'x'.repeat(64)],
])('makes a slug of %j', (name, slug) => {
  expect(toSlug(name)).toBe(slug);
});

it('makes another slug of at most 64 characters', () => {
  const ids = { secret: (length: number) => 'ABCDEFGH'.slice(0, length) } as never;
  expect(anotherSlug('papers', ids)).toBe('papers-abcdef');
  expect(anotherSlug('x'.repeat(64), ids)).toBe(`${'x'.repeat(57)}-abcdef`);
});

it('shows a lake', () => {
  const more = { description: 'All', organizationId: toId(9), lastSyncAt: 7, isPublic: true };
  const time = (ms: number) => new Date(ms).toISOString();
  expect(toWireLake(makeLake({ ...more, createdAt: 5, updatedAt: 6 }))).toEqual({
    ...{ id: toId(1), name: 'Papers', slug: 'papers', datalake_tag: 'datalake:papers', description: 'All' },
    ...{ organization_id: toId(9), is_public: true, built_in: false, status: 'active', file_count: 1 },
    ...{ total_size_bytes: 5, last_sync_at: time(7), created_at: time(5), updated_at: time(6) },
  });
  const none = { description: null, organization_id: null, last_sync_at: null, is_public: false };
  expect(toWireLake(makeLake())).toMatchObject(none);
});
