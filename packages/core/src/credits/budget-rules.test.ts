import { expect, test } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import {
  BUDGETS,
  type BudgetedCall,
  type BudgetRecord,
  getReservedAmount,
  getSubject,
  getSubjects,
  isCounted,
  parseCapId,
} from './budget-rules.ts';
import { createBudgets } from './budgets.ts';

function getRule(change: Partial<BudgetRecord> = {}): BudgetRecord {
  const id = change.id ?? 'rule';
  return {
    ...{ id, name: id, scope: 'user', scopeId: 'a', subject: 'user:a', userId: 'a', models: null },
    ...{ window: 'total', timeZone: 'UTC', unit: 'credits', amount: 100, action: 'refuse' },
    ...{ ownKeys: 'count', managedBy: 'owner', signature: id, createdAt: 0, updatedAt: 0 },
    ...change,
  };
}

const CALL: BudgetedCall = {
  ...{ payer: { account: 'user:a', userId: 'a' }, model: 'small' },
  ...{ isOwnKey: false, isMetered: true, amount: 30, tokens: 20 },
};

async function setUp(rules: readonly BudgetRecord[]) {
  let now = 0;
  const store = createMemoryStore();
  const records = store.collection(BUDGETS);
  for (const rule of rules) await records.insert(rule);
  const budgets = createBudgets({ store, clock: { now: () => now, timer: () => () => undefined } });
  return {
    ...{ budgets, records },
    pass(ms: number) {
      now += ms;
    },
    find: async (call: Partial<BudgetedCall> = {}) =>
      (await budgets.forCall({ ...CALL, ...call })).map(({ rule }) => rule.id).sort(),
  };
}

test('a rule concerns everyone, or one user, key, project or organization', () => {
  expect(getSubject('everyone', null)).toBe('everyone');
  expect(getSubject('user', 'a')).toBe('user:a');
  expect(getSubjects({ account: 'user:a' })).toEqual(['everyone']);
  const all = { account: 'organization:o', userId: 'a', keyId: 'k', projectId: 'p' };
  expect(getSubjects(all)).toEqual(['everyone', 'user:a', 'key:k', 'project:p', 'organization:o']);
});

test.each<[Partial<BudgetRecord>, Partial<BudgetedCall>, boolean]>([
  [{}, {}, true],
  [{}, { isOwnKey: true }, true],
  [{ ownKeys: 'ignore' }, { isOwnKey: true }, false],
  [{ ownKeys: 'ignore' }, {}, true],
  [{ models: ['small'] }, {}, true],
  [{ models: ['large'] }, {}, false],
  [{ models: ['small'] }, { model: undefined }, false],
  [{}, { model: undefined }, true],
  [{}, { isMetered: false }, false],
  [{ unit: 'requests' }, { isMetered: false }, true],
])('a rule with %j counts a call with %j: %s', (rule, call, expected) => {
  expect(isCounted(getRule(rule), { ...CALL, ...call })).toBe(expected);
});

test('a call counts its credits, its tokens, or one', () => {
  const units = ['credits', 'tokens', 'requests', 'concurrent'] as const;
  expect(units.map((unit) => getReservedAmount(getRule({ unit }), CALL))).toEqual([30, 20, 1, 1]);
});

test('the id of a cap names its rule and an instant of its window', async () => {
  const { budgets, pass } = await setUp([]);
  pass(3_700_000);
  const hour = getRule({ window: 'hour' });
  expect(parseCapId(budgets.current(hour).capId)).toEqual({ ruleId: 'rule', instant: 3_600_000 });
  const total = getRule({ id: 'all', window: 'total' });
  expect(parseCapId(budgets.current(total).capId)).toEqual({ ruleId: 'all', instant: 0 });
  expect(parseCapId('key:k:total')).toBeUndefined();
  expect(parseCapId('budget')).toBeUndefined();
});

test('the window of a rule ends at its end, also while it is cached', async () => {
  const { budgets, pass } = await setUp([]);
  const rule = getRule({ window: 'minute' });
  expect(budgets.current(rule).range).toEqual({ start: 0, end: 60_000 });
  pass(59_999);
  const renamed = { ...rule, name: 'Renamed' };
  expect(budgets.current(renamed)).toMatchObject({ rule: renamed, range: { start: 0 } });
  pass(1);
  expect(budgets.current(rule).range).toEqual({ start: 60_000, end: 120_000 });
  pass(-1);
  expect(budgets.current(rule).range).toEqual({ start: 0, end: 60_000 });
});

test('a rule that only notifies refuses nothing', async () => {
  const { budgets } = await setUp([getRule(), getRule({ id: 'noted', action: 'notify', unit: 'tokens' })]);
  const found = await budgets.forCall(CALL);
  expect(new Set(found.map(({ cap }) => cap))).toEqual(
    new Set([
      { id: 'budget:rule:total', unit: 'credits', limit: 100, amount: 30 },
      { id: 'budget:noted:total', unit: 'tokens', limit: Number.MAX_SAFE_INTEGER, amount: 20 },
    ]),
  );
});

test('rules are found without waiting for two seconds, then read again', async () => {
  const { budgets, records, pass, find } = await setUp([getRule()]);
  expect(budgets.forCall(CALL)).toBeInstanceOf(Promise);
  expect(await find()).toEqual(['rule']);
  await records.insert(getRule({ id: 'new' }));
  pass(1999);
  expect(budgets.forCall(CALL)).toHaveLength(1);
  pass(1);
  expect(await find()).toEqual(['new', 'rule']);
  await records.insert(getRule({ id: 'newer' }));
  expect(await find()).toHaveLength(2);
  budgets.invalidate();
  expect(await find()).toHaveLength(3);
});

test('a read that began before a change is not cached', async () => {
  const { budgets, find } = await setUp([getRule()]);
  const reading = find();
  budgets.invalidate();
  await reading;
  expect(budgets.forCall(CALL)).toBeInstanceOf(Promise);
});

test('a call counts against the rules of its model only', async () => {
  const { find } = await setUp([getRule({ models: ['small'] }), getRule({ id: 'large', models: ['large'] })]);
  expect(await find()).toEqual(['rule']);
  expect(await find({ model: 'large' })).toEqual(['large']);
});

test('concurrent calls read the rules once', async () => {
  const { budgets } = await setUp([getRule()]);
  const [first, second] = [budgets.rulesFor(CALL.payer), budgets.rulesFor(CALL.payer)];
  expect(await first).toEqual(await second);
  expect(budgets.rulesFor(CALL.payer)).toEqual(await first);
});

test('without rules nothing is counted', async () => {
  const { budgets, find } = await setUp([]);
  expect(await find()).toEqual([]);
  expect(budgets.forCall(CALL)).toEqual([]);
  expect(await budgets.byIds(['rule'])).toEqual([]);
});

test.each([999, 1000])('of %i rules those of the caller count', async (number) => {
  const others = Array.from({ length: number - 1 }, (_, at) =>
    getRule({ id: `other ${at}`, subject: `user:${at}` }),
  );
  const { budgets, records, pass, find } = await setUp([...others, getRule()]);
  expect(await find()).toEqual(['rule']);
  expect((await budgets.byIds(['rule', 'gone', 'other 5'])).map(({ id }) => id).sort()).toEqual([
    'other 5',
    'rule',
  ]);
  await records.insert(getRule({ id: 'new' }));
  pass(1999);
  expect(budgets.forCall(CALL)).toHaveLength(1);
  pass(1);
  expect(await find()).toEqual(['new', 'rule']);
  await records.take('new');
  budgets.invalidate();
  expect(await find()).toEqual(['rule']);
});
