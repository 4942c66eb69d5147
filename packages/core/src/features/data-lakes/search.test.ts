import { describe, expect, it } from 'vitest';
import { ADDED, FILE, LAKE, makeLakeFile, toId } from '../../../test/lakes.ts';
import { countTurns } from '../../../test/turns.ts';
import { createMemoryStore } from '../../memory/store.ts';
import { createMemoryVectors } from '../../memory/vectors.ts';
import type { FoundChunk, VectorIndex } from '../../ports/vectors.ts';
import type { AttachableFile, FilesReader } from '../files/reader.ts';
import { LAKE_FILES } from './records.ts';
import { findPassages, rankByWords } from './search.ts';
import { distinctWords } from './words.ts';

interface Options {
  /** Text and vector of each chunk, which all belong to one file unless it names another. */
  readonly chunks: readonly (readonly [text: string, vector: readonly number[], fileId?: string])[];
  readonly isClean?: boolean;
  readonly change?: Partial<VectorIndex>;
}

async function setUp({ chunks, isClean = true, change }: Options) {
  const store = createMemoryStore();
  await store.collection(LAKE_FILES).insert(makeLakeFile());
  const vectors = createMemoryVectors();
  await vectors.upsert(
    chunks.map(([text, vector, fileId = ADDED], place) => ({
      ...{ id: `${fileId}:${String(place).padStart(6, '0')}`, lakeId: LAKE, fileId, place, text, vector },
      ...{ tags: [], words: distinctWords(text) },
    })),
  );
  const asked: unknown[] = [];
  const files = {
    async find(userId, id): Promise<AttachableFile> {
      asked.push([userId, id]);
      return { id, name: 'a.txt', mimeType: 'text/plain', isClean };
    },
  } as Partial<FilesReader> as FilesReader;
  const limits: number[] = [];
  const index: VectorIndex = {
    ...vectors,
    nearest(want, options) {
      limits.push(want.limit);
      return vectors.nearest(want, options);
    },
    ...change,
  };
  const find = async (
    query: string,
    { limit = 3, minScore = -1, vector = [1, 0] as readonly number[] } = {},
  ) => {
    const question = { scope: { lakeIds: [LAKE] }, query, vector, limit, minScore };
    const passages = await findPassages({ store, vectors: index, files }, question, {});
    return passages.map(({ chunk }) => chunk.text);
  };
  return { store, find, asked, limits };
}

describe('a search', () => {
  it('finds by meaning and by words together', async () => {
    const { find, asked } = await setUp({
      chunks: [
        ['red apples', [1, 0]],
        ['green pears', [1, 0.1]],
        ['blue plums', [1, 0.2]],
      ],
    });
    expect(await find('plums')).toEqual(['blue plums', 'red apples', 'green pears']);
    expect(await find('nothing')).toEqual(['red apples', 'green pears', 'blue plums']);
    expect(await find('plums', { limit: 1 })).toEqual(['blue plums']);
    // Each file is looked up once a search, with the rights of the user who added it.
    expect(asked).toEqual(Array(3).fill(['ada', FILE]));
  });

  it('finds nothing below the score, also by words', async () => {
    const { find } = await setUp({
      chunks: [
        ['apples', [1, 0]],
        ['plums', [0, 1]],
      ],
    });
    expect(await find('plums', { minScore: 0.5 })).toEqual(['apples']);
    expect(await find('plums', { minScore: 0 })).toEqual(['plums', 'apples']);
  });

  it('finds nothing without a direction', async () => {
    const { find, limits } = await setUp({ chunks: [['apples', [1, 0]]] });
    expect(await find('apples', { vector: [0, 0] })).toEqual([]);
    expect(await find('apples', { vector: [] })).toEqual([]);
    expect(limits).toEqual([]);
  });

  it('shows no passage of a file that is not clean, or is gone', async () => {
    const chunks = [['apples', [1, 0]]] as const;
    expect(await (await setUp({ chunks, isClean: false })).find('apples')).toEqual([]);
    const { store, find } = await setUp({ chunks });
    await store.collection(LAKE_FILES).take(ADDED);
    expect(await find('apples')).toEqual([]);
  });

  it('looks further if deleted files hide other results', async () => {
    const hidden = (count: number) =>
      Array.from({ length: count }, () => ['apples', [1, 0], toId(77)] as const);
    const shown = [['pears', [1, 0.5]]] as const;
    const { find, limits } = await setUp({ chunks: [...hidden(60), ...shown] });
    expect(await find('apples')).toEqual(['pears']);
    expect(limits).toEqual([50, 400]);
    const few = await setUp({ chunks: [...hidden(49), ...shown] });
    expect(await few.find('x')).toEqual(['pears']);
    expect(few.limits).toEqual([50, 400]);
    const fewer = await setUp({ chunks: [...hidden(48), ...shown] });
    expect(await fewer.find('x')).toEqual(['pears']);
    expect(fewer.limits).toEqual([50]);
    const none = await setUp({ chunks: shown });
    expect(await none.find('x', { limit: 20 })).toEqual(['pears']);
    expect(none.limits).toEqual([80]);
  });

  it('looks no further than it needs', async () => {
    const chunks = [
      ['apples', [1, 0], toId(77)] as const,
      ...Array.from({ length: 60 }, () => ['pears', [1, 0.5]] as const),
    ];
    const { find, limits } = await setUp({ chunks });
    expect(await find('x', { limit: 1 })).toEqual(['pears']);
    expect(limits).toEqual([50]);
  });

  it('looks at no more than 4,000 results', async () => {
    const found: FoundChunk[] = Array.from({ length: 4000 }, (_, place) => ({
      ...{ id: `${place}`, lakeId: LAKE, fileId: toId(77), place, text: 'x', tags: [], score: 1 },
    }));
    const limits: number[] = [];
    const change: Partial<VectorIndex> = {
      async nearest({ limit }) {
        limits.push(limit);
        return found.slice(0, limit);
      },
      matching: async () => [],
    };
    const { find } = await setUp({ chunks: [], change });
    expect(await find('x')).toEqual([]);
    expect(limits).toEqual([50, 400, 3200]);
  });

  it.each(['nearest', 'matching'] as const)(
    'looks further if deleted files hide the %s results',
    async (verb) => {
      const limits: number[] = [];
      const other = verb === 'nearest' ? 'matching' : 'nearest';
      const change: Partial<VectorIndex> = {
        async [verb]({ limit }: { readonly limit: number }) {
          limits.push(limit);
          return Array.from({ length: Math.min(limit, 400) }, (_, place) => ({
            ...{ id: `${place}`, lakeId: LAKE, fileId: toId(77), place, text: 'x', tags: [], score: 1 },
          }));
        },
        [other]: async () => [],
      };
      const { find } = await setUp({ chunks: [], change });
      expect(await find('x')).toEqual([]);
      expect(limits).toEqual([50, 400, 3200]);
    },
  );

  it('is ordered by meaning, and then by the id, where both methods differ', async () => {
    const chunks = [
      ['apples and plums', [1, 0.1]],
      ['apples', [1, 0]],
    ] as const;
    expect(await (await setUp({ chunks })).find('apples plums')).toEqual(['apples', 'apples and plums']);
    const [first, second] = ['first', 'second'].map(
      (text, place): FoundChunk => ({
        ...{ id: `${place}`, lakeId: LAKE, fileId: ADDED, place, text, tags: [], score: 1 },
      }),
    ) as [FoundChunk, FoundChunk];
    const change = { nearest: async () => [second, first], matching: async () => [second, first] };
    const { find } = await setUp({ chunks: [], change });
    expect(await find('x')).toEqual(['first', 'second']);
  });

  it('passes its scope, score and options on', async () => {
    const given: unknown[] = [];
    const note = async (...call: unknown[]) => {
      given.push(call);
      return [];
    };
    const vectors = { ...createMemoryVectors(), nearest: note, matching: note };
    const options = { signal: new AbortController().signal };
    const scope = { lakeIds: [LAKE], tags: ['a'] };
    const question = { scope, query: 'Apples', vector: [1], limit: 3, minScore: 0.5 };
    await findPassages({ store: createMemoryStore(), vectors, files: {} as never }, question, options);
    const words = Array.from({ length: 33 }, (_, at) => `w${at}`);
    const long = { ...question, query: words.join(' ') };
    await findPassages({ store: createMemoryStore(), vectors, files: {} as never }, long, options);
    expect(given.splice(2)[1]).toMatchObject([{ words: words.slice(0, 32) }, options]);
    expect(given).toEqual([
      [{ scope, vector: [1], limit: 50, minScore: 0.5 }, options],
      [{ scope, vector: [1], words: ['apples'], limit: 50 }, options],
    ]);
  });
});

describe('the order of passages', () => {
  const make = (id: string, text: string, score = 0): FoundChunk => ({
    ...{ id, lakeId: LAKE, fileId: ADDED, place: 0, text, tags: [], score },
  });
  const rank = async (words: readonly string[], ...chunks: FoundChunk[]) =>
    (await rankByWords(words, chunks)).map(({ id }) => id);

  it('begins with rare words, and then with more of them', async () => {
    const common = ['b', 'c', 'd'].map((id) => make(id, 'the'));
    expect(await rank(['the', 'plum'], ...common, make('e', 'plum'))).toEqual(['e', 'b', 'c', 'd']);
    expect(await rank(['red', 'plum'], make('a', 'red'), make('b', 'a red plum'))).toEqual(['b', 'a']);
  });

  it('weighs a rare word as much as it is rare', async () => {
    const texts = ['x y', 'x y', 'x y', 'x', 'x', 'x', 'y', 'y', 'y', 'rare'];
    const chunks = texts.map((text, at) => make(`${at}`, text));
    expect((await rank(['rare', 'x', 'y'], ...chunks))[0]).toBe('9');
  });

  it.each([
    [1, 0],
    [199, 0],
    [200, 1],
    [400, 2],
  ])('yields after each 200 passages: %i', async (count, turns) => {
    const chunks = Array.from({ length: count }, (_, at) => make(`${at}`, 'x'));
    expect(await countTurns(rankByWords(['x'], chunks))).toBe(turns);
  });

  it('is that of the ids where all else is equal', async () => {
    expect(await rank(['x'], make('c', 'x'), make('a', 'x'), make('b', 'x'))).toEqual(['a', 'b', 'c']);
    expect(await rank([], make('b', 'x'), make('a', 'y'))).toEqual(['a', 'b']);
  });
});
