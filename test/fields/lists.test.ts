import { expect, it } from 'vitest';
import { GROUPS } from './groups.ts';
import { getFields } from './places.ts';
import { SETUPS } from './setups.ts';
import { EXPECTED_REFUSALS, VALUES } from './values.ts';
import { OPERATIONS } from './walk.ts';
import { NOT_SENT, WITHOUT_EFFECT } from './without-effect.ts';

const FIELDS = OPERATIONS.flatMap((operation) =>
  getFields(operation).map(({ path, name }) => ({ title: `${operation.id} ${path}`, name })),
);
const TITLES = new Set(FIELDS.map(({ title }) => title));
const NAMES = new Set(FIELDS.map(({ name }) => name));

it('walks every operation in one file', () => {
  const walked = Object.values(GROUPS).flat();
  expect(walked.map(({ id }) => id).sort()).toEqual(OPERATIONS.map(({ id }) => id).sort());
});

it('walks nested fields, the items of lists and each option of a union', () => {
  for (const title of [
    'createCompletion messages[].content(array)[](tool_result).is_error',
    'createCompletion options.stop(string)',
    'createSession tags[].strength',
    'executeTool (web_search).input.num_results',
    'listBudgets scopeId',
  ])
    expect(TITLES).toContain(title);
  expect(TITLES.size).toBeGreaterThan(600);
});

it('lists only fields and operations that exist', () => {
  const titles = [
    ...Object.keys(WITHOUT_EFFECT),
    ...Object.keys(NOT_SENT),
    ...Object.keys(EXPECTED_REFUSALS),
  ];
  expect(titles.filter((title) => !TITLES.has(title))).toEqual([]);
  expect(Object.keys(VALUES).filter((key) => !TITLES.has(key) && !NAMES.has(key))).toEqual([]);
  const ids = new Set(OPERATIONS.map(({ id }) => id));
  expect(Object.keys(SETUPS).filter((id) => !ids.has(id))).toEqual([]);
});
