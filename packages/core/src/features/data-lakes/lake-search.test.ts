import { describe, expect, it } from 'vitest';
import { openSources, PAYER } from '../../../test/lake-sources.ts';
import { FILE, LAKE, toId } from '../../../test/lakes.ts';
import { createLakeSearch } from './lake-search.ts';

describe('the search for answers', () => {
  const query = {
    query: 'apples',
    userId: 'ada',
    payer: PAYER,
    requestId: 'r',
    key: 'k',
    limit: 5,
    minScore: 0,
  };
  const { signal } = new AbortController();

  it('finds passages in lakes that the user may read', async () => {
    const { services } = await openSources([
      { id: toId(1) },
      { id: toId(2), ownerId: 'bob' },
      { id: toId(3), status: 'deleting' },
    ]);
    const search = createLakeSearch(services);
    expect(await search.findUnreadable('ada', [toId(1), toId(1)])).toBe(-1);
    expect(await search.findUnreadable('ada', [toId(1), toId(2)])).toBe(1);
    expect(await search.findUnreadable('ada', [toId(3)])).toBe(0);
    const lakeIds = [toId(1), toId(2), toId(3), toId(1)];
    expect(await search.search({ ...query, lakeIds }, { signal })).toEqual([
      { fileId: FILE, name: 'a.txt', score: 1, text: 'passage of 1' },
    ]);
    const charges = await services.ledger.charges({ account: 'user:ada' }, 9);
    expect(charges).toMatchObject([{ operation: 'file_search', requestId: 'r' }]);
  });

  it('has scores from 0 to 1, and at most the limit over all models', async () => {
    const { services } = await openSources([{ id: toId(1) }, { id: toId(2), embeddingModel: 'other' }], {
      embed: async ({ model }) => ({ embeddings: [model === 'other' ? [-1, 0] : [1, 0]], tokens: 1 }),
    });
    const search = createLakeSearch(services);
    const lakeIds = [toId(1), toId(2)];
    const scores = async (more: object, key: string) =>
      (await search.search({ ...query, lakeIds, ...more, key }, { signal })).map(({ score }) => score);
    expect(await scores({ minScore: -1 }, '1')).toEqual([1, 0]);
    expect(await scores({ minScore: -1, limit: 1 }, '2')).toEqual([1]);
  });

  it('is refused while lakes are switched off', async () => {
    const { services } = await openSources([{ id: LAKE }], { admin: { EnableDataLakes: false } });
    const search = createLakeSearch(services);
    await expect(search.findUnreadable('ada', [LAKE])).rejects.toMatchObject({ status: 403 });
    await expect(search.search({ ...query, lakeIds: [LAKE] }, { signal })).rejects.toMatchObject({
      status: 403,
    });
  });
});
