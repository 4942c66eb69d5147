import { expect, it } from 'vitest';
import { jsonIn, parseArguments } from './json.ts';

it.each<[string, unknown]>([
  ['{"a":1}', { a: 1 }],
  ['Here: ```json\n{"a":{"b":2}}\n``` Done.', { a: { b: 2 } }],
  ['{}', {}],
  ['{"a":1}.', { a: 1 }],
  ['none', undefined],
  ['} {', undefined],
  ['{ broken', undefined],
  ['{broken}', undefined],
  ['a } alone', undefined],
])('finds the object in %j', (said, expected) => {
  expect(jsonIn(said)).toEqual(expected);
});

it.each<[string, unknown]>([
  ['', {}],
  [' \n', {}],
  ['{"a":1}', { a: 1 }],
  ['[1]', [1]],
  ['{', undefined],
])('parses the arguments %j', (json, expected) => {
  expect(parseArguments(json)).toEqual(expected);
});
