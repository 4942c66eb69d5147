import { describe, expect, it } from 'vitest';
import { openSources, PAYER } from '../../../test/lake-sources.ts';
import { FILE, toId } from '../../../test/lakes.ts';
import { ORGANIZATIONS } from '../organizations/records.ts';
import type { LakeRecord } from './records.ts';
import { lakesOfSession, lakesOfUser, searchLakes } from './sources.ts';

const ids = (lakes: readonly LakeRecord[]) => lakes.map(({ id }) => Number(id)).sort((a, b) => a - b);

describe('the lakes of a session', () => {
  it('are the one that it names, and the own ones if it includes them', async () => {
    const { services } = await openSources([
      { id: toId(1), ownerId: 'bob', readerIds: ['ada'] },
      { id: toId(2) },
      { id: toId(3), status: 'archived' },
      { id: toId(4), status: 'deleting' },
      { id: toId(5), ownerId: 'bob' },
    ]);
    const list = async (settings: object) => ids(await lakesOfSession(services, 'ada', settings));
    expect(await list({})).toEqual([]);
    expect(await list({ dataLakeId: toId(1) })).toEqual([1]);
    expect(await list({ dataLakeId: toId(3) })).toEqual([3]);
    expect([await list({ dataLakeId: toId(4) }), await list({ dataLakeId: toId(5) })]).toEqual([[], []]);
    expect(await list({ includeLibraryFiles: true })).toEqual([2]);
    expect(await list({ dataLakeId: toId(1), includeLibraryFiles: true })).toEqual([1, 2]);
    expect(await list({ dataLakeId: toId(2), includeLibraryFiles: true })).toEqual([2]);
  });

  it('are at most 20 of the user', async () => {
    const { services } = await openSources(Array.from({ length: 21 }, (_, at) => ({ id: toId(at + 1) })));
    expect(await lakesOfSession(services, 'ada', { includeLibraryFiles: true })).toHaveLength(20);
    expect(await lakesOfUser(services, 'ada')).toHaveLength(20);
  });

  it('without a name are those of the user that are not public', async () => {
    const { services, store } = await openSources([
      { id: toId(1) },
      { id: toId(2), status: 'archived' },
      { id: toId(3), ownerId: 'bob', readerIds: ['ada'] },
      { id: toId(4), ownerId: 'bob', isPublic: true },
      { id: toId(5), ownerId: 'bob', isPublic: true, readerIds: ['ada'] },
      { id: toId(6), ownerId: 'bob' },
      { id: toId(7), ownerId: 'bob', organizationId: toId(50) },
    ]);
    const organization = {
      id: toId(50),
      ownerId: 'root',
      readerIds: ['ada'],
      name: 'O',
      slug: 'o',
      createdAt: 0,
    };
    await store.collection(ORGANIZATIONS).insert(organization as never);
    expect(ids(await lakesOfUser(services, 'ada'))).toEqual([1, 3, 5, 7]);
  });
});

describe('a search of several lakes', () => {
  const question = { query: 'apples', limit: 2, payer: PAYER, requestId: 'r', operation: 'o', key: 'k' };

  it('asks each model once, and charges for each', async () => {
    const { services, requests, keys, listLakes, money } = await openSources([
      { id: toId(1) },
      { id: toId(2), embeddingModel: 'other' },
      { id: toId(3) },
      { id: toId(4), embeddingModel: undefined as never },
    ]);
    const found = await searchLakes(services, await listLakes(), { ...question, limit: 5 }, {});
    expect(found.map(({ chunk }) => Number(chunk.lakeId))).toEqual([1, 3, 2]);
    expect(found[0]?.file).toMatchObject({ id: FILE, name: 'a.txt' });
    expect(requests).toEqual([
      expect.objectContaining({ model: 'vectors', inputs: ['apples'] }),
      expect.objectContaining({ model: 'other', inputs: ['apples'] }),
    ]);
    expect(keys).toEqual(['k:vectors', 'k:other']);
    expect(await money()).toEqual({ charged: 200, held: 0 });
  });

  it('has at most the number of passages for each model', async () => {
    const { services, listLakes } = await openSources([
      { id: toId(1) },
      { id: toId(2) },
      { id: toId(3) },
      { id: toId(4), embeddingModel: 'other' },
    ]);
    const lakes = await listLakes();
    expect(await searchLakes(services, lakes, question, {})).toHaveLength(3);
    expect(await searchLakes(services, lakes.slice(0, 3), { ...question, key: 'l' }, {})).toHaveLength(2);
    expect(await searchLakes(services, [], question, {})).toEqual([]);
  });

  it('finds only passages above the score and with one of the tags', async () => {
    const { services, listLakes } = await openSources([{ id: toId(1) }, { id: toId(30) }]);
    const lakes = await listLakes();
    const find = async (more: object, key: string) =>
      (await searchLakes(services, lakes, { ...question, ...more, key }, {})).map(({ chunk }) =>
        Number(chunk.lakeId),
      );
    expect(await find({}, '1')).toEqual([1, 30]);
    expect(await find({ tags: ['t30'] }, '2')).toEqual([30]);
    expect(await find({ minScore: 0.999 }, '3')).toEqual([1]);
  });

  it('is refused without credit, and ends with its signal', async () => {
    const poor = await openSources([{ id: toId(1) }], { credit: 0 });
    await expect(searchLakes(poor.services, await poor.listLakes(), question, {})).rejects.toMatchObject({
      ...{ status: 422, code: 'insufficient_credits' },
    });
    const { services, listLakes } = await openSources([{ id: toId(1) }]);
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(searchLakes(services, await listLakes(), question, { signal })).rejects.toThrow();
  });

  it('is free while credits are not enforced', async () => {
    const { services, listLakes, money } = await openSources([{ id: toId(1) }], {
      credit: 0,
      admin: { enforceCredits: false },
    });
    expect(await searchLakes(services, await listLakes(), question, {})).toHaveLength(1);
    expect(await money()).toEqual({ charged: 0, held: 0 });
  });
});
