import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { TASK_TURNS } from '../jobs/task-turns.ts';
import { createMemoryStore } from '../memory/store.ts';
import type { AgedRecord, AgeRetention, GroupRetention, RetentionRule } from '../operations/retention.ts';
import type { Store } from '../ports/store.ts';
import { wrapCollection } from '../ports/wrap-collection.ts';
import { countByAge, removeByAge } from './retention-by-age.ts';
import { countByGroup, removeByGroup } from './retention-by-group.ts';
import { createRemover } from './retention-remover.ts';
import { BATCH, NO_BUDGET, type RetentionBudget } from './retention-runs.ts';

const HOUR_MS = 3_600_000;
const WIDE: RetentionBudget = { removals: 1e6, records: 1e6, looks: 1e6 };
const BEFORE = 1e6;
const NO_GROUPS = {} as GroupRetention;

function setUp() {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const incidents: string[] = [];
  const services = {
    store,
    clock,
    onError: (incident: { readonly error: unknown }) => void incidents.push(String(incident.error)),
  };
  return {
    clock,
    services,
    incidents,
    remover: createRemover(services, 'analytics'),
    turns: store.collection(TASK_TURNS),
  };
}

/** Records with the times 0, 1, 2 and so on. @param keeps whether one cannot be deleted. */
function createAged(count: number, keeps: (time: number) => boolean = () => false) {
  let records = Array.from({ length: count }, (_, time): AgedRecord => ({ id: `r${time}`, time }));
  const after: (AgedRecord | undefined)[] = [];
  const byAge: AgeRetention = {
    async find(before, limit, last) {
      after.push(last);
      return records.filter(({ time }) => time < before && time > (last?.time ?? -1)).slice(0, limit);
    },
    async remove(id) {
      const { time = 0 } = records.find((one) => one.id === id) ?? {};
      if (keeps(time)) return false;
      records = records.filter((one) => one.id !== id);
      return true;
    },
  };
  const rule: RetentionRule = { kind: 'analytics', byAge, byGroup: NO_GROUPS };
  return { rule, byAge, after, left: () => records.length };
}

/** Records that are deleted in batches. */
function createBatched(count: number) {
  let left = count;
  const limits: number[] = [];
  const byAge: AgeRetention = {
    count: async (before) => (before === BEFORE ? left : 0),
    async removeBefore(before, limit) {
      const removed = before === BEFORE ? Math.min(limit, left) : 0;
      left -= removed;
      limits.push(limit);
      return removed;
    },
  };
  return {
    rule: { kind: 'analytics', byAge, byGroup: NO_GROUPS } as RetentionRule,
    byAge,
    limits,
    left: () => left,
  };
}

describe('records by age', () => {
  it.each([0, BATCH - 1, BATCH, 2 * BATCH + 1])('are counted in pages: %i records', async (count) => {
    const { byAge, after } = createAged(count);
    expect(await countByAge(byAge, BEFORE, setUp().remover)).toBe(count);
    const pages = Array.from({ length: Math.floor(count / BATCH) }, (_, page) => (page + 1) * BATCH - 1);
    expect(after.map((last) => last?.time)).toEqual([undefined, ...pages]);
    expect(await countByAge(createBatched(count).byAge, BEFORE, setUp().remover)).toBe(count);
  });

  it('are deleted in batches until there are no more, or the run has enough', async () => {
    const { services, remover } = setUp();
    const all = createBatched(2 * BATCH);
    expect(await removeByAge(services, all.rule, BEFORE, remover, WIDE)).toBe(2 * BATCH);
    expect(all.limits).toEqual([BATCH, BATCH, BATCH]);
    const some = createBatched(3 * BATCH);
    expect(await removeByAge(services, some.rule, BEFORE, remover, { ...WIDE, records: 2 * BATCH })).toBe(
      2 * BATCH,
    );
    expect(some.limits).toHaveLength(2);
  });

  it('are none for a rule without an age', async () => {
    const { services, remover } = setUp();
    const rule = { kind: 'analytics', byGroup: NO_GROUPS } as const;
    expect(await removeByAge(services, rule, BEFORE, remover, WIDE)).toBe(0);
  });

  it('are deleted one by one behind those that stay, and the next run begins at the start again', async () => {
    const { services, remover, turns } = setUp();
    const aged = createAged(3 * BATCH, (time) => time < BATCH || time === 2 * BATCH);
    expect(await removeByAge(services, aged.rule, BEFORE, remover, NO_BUDGET)).toBe(2 * BATCH - 1);
    expect(aged.left()).toBe(BATCH + 1);
    expect(await turns.count({})).toBe(0);
    expect(await removeByAge(services, aged.rule, BEFORE, remover, WIDE)).toBe(0);
    expect(await turns.count({})).toBe(0);
  });

  it('are looked at in bounded runs, each of which goes on where the last one ended', async () => {
    const { services, remover, turns } = setUp();
    const aged = createAged(4 * BATCH, (time) => time < 2 * BATCH);
    const run = (budget: Partial<RetentionBudget>) =>
      removeByAge(services, aged.rule, BEFORE, remover, { ...WIDE, ...budget });
    const position = async () => (await turns.get('sweep-retention:analytics:age'))?.position;
    expect([await run({ looks: BATCH }), await position()]).toEqual([0, `${BATCH - 1}:r${BATCH - 1}`]);
    expect([await run({ looks: BATCH }), await position()]).toEqual([
      0,
      `${2 * BATCH - 1}:r${2 * BATCH - 1}`,
    ]);
    expect([await run({ removals: BATCH }), await position()]).toEqual([
      BATCH,
      `${3 * BATCH - 1}:r${3 * BATCH - 1}`,
    ]);
    expect([await run({}), await position()]).toEqual([BATCH, undefined]);
    expect(aged.after.map((last) => last?.time)).toEqual([
      undefined,
      BATCH - 1,
      2 * BATCH - 1,
      3 * BATCH - 1,
      4 * BATCH - 1,
    ]);
    expect(aged.left()).toBe(2 * BATCH);
  });

  it('that fail are reported, and do not keep the others', async () => {
    const { services, remover, incidents } = setUp();
    const aged = createAged(3, (time) => {
      if (time === 1) throw new Error('no file');
      return false;
    });
    expect(await removeByAge(services, aged.rule, BEFORE, remover, WIDE)).toBe(2);
    expect([aged.left(), incidents]).toEqual([1, ['Error: no file']]);
  });
});

/** Groups of records, in pages as asked. @param sizes the number of records of each. */
function createGroups(sizes: readonly number[], byAge?: AgeRetention) {
  const left = [...sizes];
  const lists: (string | undefined)[] = [];
  const limits: number[] = [];
  const byGroup: GroupRetention = {
    async list(after, limit) {
      lists.push(after);
      const start = after === undefined ? 0 : Number(after);
      const end = Math.min(start + limit, left.length);
      const groups = Array.from({ length: end - start }, (_, at) => String(start + at));
      return { groups, ...(end < left.length && { next: String(end) }) };
    },
    count: async (group) => left[Number(group)] ?? 0,
    async trim(group, _bounds, limit) {
      const at = Number(group);
      const here = left[at] ?? 0;
      if (here < 0) throw new Error(`group ${group}`);
      const removed = Math.min(here, limit);
      left[at] = here - removed;
      limits.push(limit);
      return removed;
    },
  };
  const rule: RetentionRule = { kind: 'analytics', byGroup, ...(byAge && { byAge }) };
  return { rule, byGroup, lists, limits, left };
}

describe('records by group', () => {
  const bounds = { surplus: { newest: 1, before: BEFORE } };

  it.each([1, 200, 450])('are counted in pages: %i groups', async (count) => {
    const { byGroup, lists } = createGroups(Array.from({ length: count }, () => 2));
    expect(await countByGroup(byGroup, bounds, setUp().remover)).toBe(2 * count);
    expect(lists).toEqual([undefined, '200', '400'].slice(0, Math.ceil(count / 200)));
  });

  it('are deleted in steps of 500, and a group that fails does not keep the others', async () => {
    const { services, remover, incidents, turns } = setUp();
    const groups = createGroups([0, 2 * BATCH, -1, 3]);
    expect(await removeByGroup(services, groups.rule, bounds, remover, NO_BUDGET)).toBe(2 * BATCH + 3);
    expect(groups.limits).toEqual([BATCH, BATCH, BATCH, BATCH, BATCH]);
    expect([groups.left, incidents]).toEqual([[0, 0, -1, 0], ['Error: group 2']]);
    expect(await turns.count({})).toBe(0);
  });

  it('are deleted up to the maximum of a run, and the next run looks at the same groups again', async () => {
    const { services, remover, turns } = setUp();
    const groups = createGroups([600, 600]);
    const run = () =>
      removeByGroup(services, groups.rule, bounds, remover, { ...WIDE, removals: 1, records: 700 });
    expect(await run()).toBe(700);
    expect([groups.left, groups.limits]).toEqual([
      [0, 500],
      [500, 200, 100],
    ]);
    expect(await turns.get('sweep-retention:analytics')).toMatchObject({ nextRunAt: expect.any(Number) });
    expect(groups.lists).toEqual([undefined]);
  });

  it.each([
    [createAged(0).byAge, 5],
    [createBatched(0).byAge, 7],
    [undefined, 7],
  ])('count as deleted one by one if the rule finds records by age', async (byAge, expected) => {
    const { services, remover } = setUp();
    const { rule } = createGroups([10], byAge);
    expect(await removeByGroup(services, rule, bounds, remover, { ...WIDE, removals: 5, records: 7 })).toBe(
      expected,
    );
  });

  it('are looked at in bounded runs, which rest for an hour after the last group', async () => {
    const { services, remover, clock, turns } = setUp();
    const groups = createGroups(Array.from({ length: 450 }, () => 1));
    const run = (budget = { ...WIDE, looks: 200 }) =>
      removeByGroup(services, groups.rule, bounds, remover, budget);
    expect([await run(), await run(), await run()]).toEqual([200, 200, 50]);
    groups.left.fill(1);
    await clock.advance(HOUR_MS - 1);
    expect(await run()).toBe(0);
    await clock.advance(1);
    expect(await run()).toBe(200);
    expect(groups.lists).toEqual([undefined, '200', '400', undefined]);
    expect(await run(WIDE)).toBe(250);
    groups.left.fill(1);
    expect(await run(NO_BUDGET)).toBe(450);
    groups.left.fill(1);
    // A clock that is an hour ahead at most may be right.
    for (const [ahead, removed] of [
      [HOUR_MS, 0],
      [HOUR_MS + 1, 200],
    ] as const) {
      await turns.update('sweep-retention:analytics', { nextRunAt: clock.now() + ahead });
      expect(await run()).toBe(removed);
    }
  });
});

it('ends a run at its maximum, and the next run begins with the same page of groups', async () => {
  const { services, remover } = setUp();
  const groups = createGroups(Array.from({ length: 450 }, () => 1));
  const run = (removals: number) =>
    removeByGroup(services, groups.rule, { surplus: { newest: 1, before: BEFORE } }, remover, {
      ...WIDE,
      records: removals,
    });
  expect([await run(200), await run(100)]).toEqual([200, 100]);
  expect(groups.lists).toEqual([undefined, undefined, '200']);
});

it('fails a run whose position is not stored, so that it is reported', async () => {
  const { services, remover, turns } = setUp();
  let away: 'insert' | 'update' = 'insert';
  const store: Store = {
    ...services.store,
    collection: (definition) => {
      const collection = services.store.collection(definition);
      const fail = () => Promise.reject(new Error('the store is away'));
      return wrapCollection(collection, { [away]: fail });
    },
  };
  const runs = () => [
    removeByAge({ ...services, store }, createAged(2 * BATCH).rule, BEFORE, remover, {
      ...WIDE,
      looks: BATCH,
    }),
    removeByGroup({ ...services, store }, createGroups([1]).rule, {}, remover, WIDE),
  ];
  for (const run of runs()) await expect(run).rejects.toThrow('the store is away');
  expect(await turns.count({})).toBe(0);
  away = 'update';
  for (const run of runs()) await expect(run).rejects.toThrow('the store is away');
});

it('finds no use of no records', async () => {
  const { remover } = setUp();
  expect(await remover.count([])).toBe(0);
  expect(await remover.removeEach([], BEFORE, async () => true)).toBe(0);
});
