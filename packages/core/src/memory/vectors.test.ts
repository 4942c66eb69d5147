import { expect, it } from 'vitest';
import type { IndexedChunk } from '../ports/vectors.ts';
import { createMemoryVectors } from './vectors.ts';

const toChunk = (id: string, more: Partial<IndexedChunk> = {}): IndexedChunk =>
  ({
    ...{ id, lakeId: 'l', fileId: 'f', tags: ['t'], text: id, vector: [1, 0], words: ['bee'] },
    ...more,
  }) as IndexedChunk;
const SCOPE = { lakeIds: ['l'] };
const ids = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id).join('');

it('finds the nearest first, ties by their ids, up to the limit and from the least score', async () => {
  const vectors = createMemoryVectors();
  await vectors.upsert([
    ...[toChunk('c'), toChunk('a'), toChunk('b', { vector: [0, 1] }), toChunk('d', { vector: [-1, 0] })],
  ]);
  const nearest = async (more: object = {}) =>
    ids(await vectors.nearest({ scope: SCOPE, vector: [1, 0], limit: 9, ...more }));
  expect([await nearest(), await nearest({ limit: 2 }), await nearest({ minScore: 0 })]).toEqual([
    ...['acbd', 'ac', 'acb'],
  ]);
  expect([await nearest({ minScore: 1 }), await nearest({ vector: [1, 0, 0] })]).toEqual(['ac', '']);
});

it('finds those with most of the words first, and none without any', async () => {
  const vectors = createMemoryVectors();
  await vectors.upsert([
    ...[
      toChunk('b'),
      toChunk('a'),
      toChunk('c', { words: ['bee', 'fox'] }),
      toChunk('d', { words: ['cat'] }),
    ],
  ]);
  const matching = async (words: readonly string[], limit = 9) =>
    ids(await vectors.matching({ scope: SCOPE, words, vector: [1, 0], limit }));
  expect([await matching(['bee', 'fox', 'bee']), await matching(['bee'], 2), await matching([])]).toEqual([
    ...['cab', 'ab', ''],
  ]);
});

it('looks only at the lakes, files and tags of the scope', async () => {
  const vectors = createMemoryVectors();
  await vectors.upsert([
    ...[
      toChunk('a'),
      toChunk('b', { fileId: 'g' }),
      toChunk('c', { tags: [] }),
      toChunk('d', { lakeId: 'm' }),
    ],
  ]);
  const within = async (more: object) =>
    ids(await vectors.nearest({ scope: { ...SCOPE, ...more }, vector: [1, 0], limit: 9 }));
  expect(await within({})).toBe('abc');
  expect(await within({ lakeIds: ['m', 'l', 'm', 'none'] })).toBe('abcd');
  expect([await within({ fileIds: ['g'] }), await within({ fileIds: [] })]).toEqual(['b', '']);
  expect([await within({ tags: ['u', 't'] }), await within({ tags: [] })]).toEqual(['ab', '']);
});

it('replaces, moves and removes chunks', async () => {
  const vectors = createMemoryVectors();
  await vectors.upsert([toChunk('a'), toChunk('b', { fileId: 'g' })]);
  await vectors.upsert([toChunk('a', { lakeId: 'm' })]);
  const counts = async () =>
    Promise.all(
      [{ lakeId: 'l' }, { lakeId: 'm' }, { lakeId: 'l', fileId: 'g' }].map((group) => vectors.count(group)),
    );
  expect(await counts()).toEqual([1, 1, 1]);
  await vectors.upsert([toChunk('b', { fileId: 'h' })]);
  expect(await counts()).toEqual([1, 1, 0]);
  await vectors.remove({ lakeId: 'l', fileId: 'g' });
  await vectors.remove({ lakeId: 'm' });
  expect(await counts()).toEqual([1, 0, 0]);
  await vectors.remove({ lakeId: 'l', fileId: 'h' });
  expect(await counts()).toEqual([0, 0, 0]);
});

it('keeps its own copy of the tags', async () => {
  const vectors = createMemoryVectors();
  const tags = ['t'];
  await vectors.upsert([toChunk('a', { tags })]);
  tags.push('u');
  const [found] = await vectors.nearest({ scope: SCOPE, vector: [1, 0], limit: 1 });
  expect(found).toEqual({ id: 'a', lakeId: 'l', fileId: 'f', tags: ['t'], text: 'a', score: 1 });
});

it('does nothing for a signal that is aborted', async () => {
  const vectors = createMemoryVectors();
  await vectors.upsert([toChunk('a')]);
  const options = { signal: AbortSignal.abort(new Error('left')) };
  const query = { scope: SCOPE, vector: [1, 0], limit: 1 };
  for (const call of [
    vectors.upsert([toChunk('b')], options),
    vectors.remove({ lakeId: 'l' }, options),
    vectors.nearest(query, options),
    vectors.matching({ ...query, words: ['bee'] }, options),
    vectors.count({ lakeId: 'l' }, options),
  ])
    await expect(call).rejects.toThrow('left');
  expect(await vectors.count({ lakeId: 'l' })).toBe(1);
});
