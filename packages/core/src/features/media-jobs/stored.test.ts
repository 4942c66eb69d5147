import { createMemoryStore } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import type { GenerationRecord } from './records.ts';
import { GENERATIONS, getGenerations, type StoredGeneration } from './stored.ts';

const ID = 'a'.repeat(24);

const COMMON = {
  id: ID,
  kind: 'video',
  ownerId: 'ada',
  state: 'running',
  step: 'submitting',
  source: 'api',
  model: 'm',
  provider: 'p',
  providerModel: 'm',
  payer: { account: 'user:ada', userId: 'ada' },
  requestId: 'r',
  reserved: 0,
  createdAt: 1,
  updatedAt: 2,
} as const;

const INPUT = {
  prompt: 'a boat',
  mode: 'text_to_video',
  durationSeconds: 5,
  aspectRatio: '16:9',
  resolution: '720p',
} as const;

const STORED: StoredGeneration = { ...COMMON, wish: INPUT, asker: 'job:1', askedAt: 3, tendAt: 4 };
const RECORD: GenerationRecord = {
  ...COMMON,
  input: INPUT,
  submittedBy: 'job:1',
  submittedAt: 3,
  nextCheckAt: 4,
};

describe('generation that was stored with older field names', () => {
  it('is read, sorted and counted by the field names of the code', async () => {
    const store = createMemoryStore();
    await store.collection(GENERATIONS).insert(STORED);
    const generations = getGenerations(store);
    expect(await generations.get(ID, { submittedBy: 'job:1' })).toEqual(RECORD);
    expect(await generations.get(ID, { submittedBy: 'job:2' })).toBeUndefined();
    const due = { anyOf: [{ nextCheckAt: { lte: 4 } }] };
    expect(await generations.find(due, { order: { field: 'nextCheckAt', direction: 'asc' } })).toEqual([
      RECORD,
    ]);
    expect(await generations.find({ anyOf: [{ nextCheckAt: { lte: 3 } }] })).toEqual([]);
    expect(await generations.count({ nextCheckAt: { lte: 3 } })).toBe(0);
  });

  it('is listed in pages and both directions', async () => {
    const generations = getGenerations(createMemoryStore());
    for (const [place, id] of ['b', 'c', 'd'].entries()) {
      await generations.insert({ ...RECORD, id: id.repeat(24), nextCheckAt: 10 + place });
    }
    const times = async (direction: 'asc' | 'desc') => {
      const order = { field: 'nextCheckAt', direction } as const;
      return (await generations.find({}, { order, limit: 2 })).map(({ nextCheckAt }) => nextCheckAt);
    };
    expect([await times('asc'), await times('desc')]).toEqual([
      [10, 11],
      [12, 11],
    ]);
  });

  it('has numbers that can be added to', async () => {
    const generations = getGenerations(createMemoryStore());
    await generations.insert(RECORD);
    expect(await generations.add(ID, { nextCheckAt: 5 }, { submittedBy: 'job:2' })).toBeUndefined();
    expect(await generations.add(ID, { nextCheckAt: 5 }, { submittedBy: 'job:1' })).toMatchObject({
      nextCheckAt: 9,
    });
  });

  it('is written with the older names, so that an earlier version can read it', async () => {
    const store = createMemoryStore();
    const generations = getGenerations(store);
    await generations.insert(RECORD);
    expect(await store.collection(GENERATIONS).get(ID)).toEqual(STORED);
    await generations.update(ID, { nextCheckAt: undefined, submittedBy: 'job:2' }, { submittedBy: 'job:1' });
    const { tendAt: _, ...rest } = STORED;
    expect(await store.collection(GENERATIONS).get(ID)).toEqual({ ...rest, asker: 'job:2' });
    expect(await generations.take(ID, { submittedBy: 'job:2' })).toMatchObject({ submittedBy: 'job:2' });
  });
});
