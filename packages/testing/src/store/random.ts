import { createMemoryStore } from '@questline/core/memory';
import type { Collection, Filter, FindOptions, Patch } from '@questline/core/ports';
import { removeWhere } from '@questline/core/ports';
import fc from 'fast-check';
import { expect } from 'vitest';
import { getRuns } from '../suite.ts';
import { getId, getNotes, type Note, notes, type StoreCase, type StoreSubject } from './subject.ts';

const OWNERS = ['alice', 'bob'] as const;
const WORDS = ['', 'a', 'A', 'ab', 'b%', 'c_d', '\u00e9', '\u{1f600}', 'it\u2019s'] as const;

const word = fc.constantFrom(...WORDS);
const small = fc.integer({ min: -2, max: 4 });
const owner = fc.constantFrom(...OWNERS);
const tags = fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 3 });

const fields = fc.record(
  {
    title: fc.option(word),
    rank: small,
    isPinned: fc.boolean(),
    tags,
    slug: fc.option(fc.constantFrom('s1', 's2', 's3')),
    body: fc.jsonValue({ maxDepth: 2 }),
  },
  { requiredKeys: [] },
);

const textCondition = fc.oneof(
  fc.option(word),
  word.map((not) => ({ not })),
  fc.constant({ not: null }),
  fc.array(word, { maxLength: 3 }).map((list) => ({ in: list })),
  word.map((contains) => ({ contains })),
  word.map((gte) => ({ gte })),
);
const numberCondition = fc.oneof(
  fc.option(small),
  small.map((not) => ({ not })),
  fc.array(small, { maxLength: 3 }).map((list) => ({ in: list })),
  small.map((lt) => ({ lt })),
  fc.tuple(small, small).map(([gte, lte]) => ({ gte, lte })),
  small.map((gt) => ({ gt })),
);
const conditions = fc.record(
  {
    ownerId: owner,
    title: textCondition,
    rank: numberCondition,
    isPinned: fc.option(fc.boolean()),
    tags: fc.constantFrom('x', 'y').map((has) => ({ has })),
    slug: fc.option(fc.constantFrom('s1', 's2')),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Filter<Note>>;
const filter: fc.Arbitrary<Filter<Note>> = fc.oneof(
  { weight: 3, arbitrary: conditions },
  {
    weight: 1,
    arbitrary: fc
      .tuple(conditions, fc.array(conditions, { maxLength: 2 }))
      .map(([all, anyOf]) => ({ ...all, anyOf })),
  },
);
const options: fc.Arbitrary<FindOptions<Note>> = fc.record(
  {
    order: fc.record({
      field: fc.constantFrom('id' as const, 'createdAt' as const),
      direction: fc.constantFrom('asc' as const, 'desc' as const),
    }),
    limit: fc.integer({ min: 1, max: 5 }),
    offset: fc.nat({ max: 3 }),
    after: fc.nat({ max: 9 }).map((at) => ({ value: at % 4, id: getId(at) })),
  },
  { requiredKeys: [] },
);

type Step =
  | { readonly do: 'insert'; readonly at: number; readonly owner: string; readonly fields: Partial<Note> }
  | { readonly do: 'update'; readonly at: number; readonly patch: Patch<Note>; readonly guard: Filter<Note> }
  | { readonly do: 'add'; readonly at: number; readonly by: number; readonly guard: Filter<Note> }
  | { readonly do: 'take'; readonly at: number; readonly guard: Filter<Note> }
  | { readonly do: 'remove'; readonly filter: Filter<Note> }
  | { readonly do: 'find'; readonly filter: Filter<Note>; readonly options: FindOptions<Note> };

const at = fc.nat({ max: 9 });
const guard = fc.oneof(fc.constant({}), conditions);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('insert' as const), at, owner, fields }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('update' as const), at, patch: fields, guard }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('add' as const), at, by: small, guard }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('take' as const), at, guard }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), filter }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('find' as const), filter, options }) },
) as fc.Arbitrary<Step>;

export const randomCases: readonly StoreCase[] = [
  {
    name: 'behaves like the reference for any sequence of calls',
    section: 'random',
    async run(subject, random) {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 50 }), (steps) =>
          compare(subject, steps),
        ),
        getRuns(random),
      );
    },
  },
];

async function compare(subject: StoreSubject, steps: readonly Step[]): Promise<void> {
  const tested = getNotes(subject);
  for (const { id } of await tested.find({})) await tested.take(id);
  const reference = createMemoryStore().collection(notes);
  for (const each of steps) {
    expect(await perform(tested, each), JSON.stringify(each)).toEqual(await perform(reference, each));
  }
  expect(await tested.find({})).toEqual(await reference.find({}));
}

async function perform(collection: Collection<Note>, step: Step): Promise<unknown> {
  switch (step.do) {
    case 'insert':
      return collection.insert({
        id: getId(step.at),
        ownerId: step.owner,
        createdAt: step.at % 4,
        ...step.fields,
      });
    case 'update':
      return collection
        .update(getId(step.at), step.patch, step.guard)
        .catch((error: unknown) => (error instanceof Error ? error.name : error));
    case 'add':
      return collection.add(getId(step.at), { rank: step.by }, step.guard);
    case 'take':
      return collection.take(getId(step.at), step.guard);
    case 'remove':
      return removeWhere(collection, step.filter);
    case 'find':
      return [await collection.find(step.filter, step.options), await collection.count(step.filter)];
  }
}
