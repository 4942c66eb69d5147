import type { Operation } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { validate } from '../../packages/core/src/http/validation.ts';
import { type BodyPlace, getPlaces } from '../support/list-fields.ts';
import { createTestApp } from '../support/test-app.ts';

/*
 * Bodies of maximum size that are expensive to validate: long texts, lists and objects in every place of
 * every body. The test measures processor time and takes the best of several tries, because a busy machine
 * may interrupt any of them.
 */

const MAX_MS = 50;
/**
 * Bodies take at most half of the bound, so the best of many tries exceeds it only if validation became
 * slower.
 */
const TRIES = 40;
/** Maximum JSON size of the issues, in bytes. */
const MAX_ANSWER = 64 * 1024;
/** Below the maximum of 100,000 values in a body. */
const VALUES = 99_000;
/** Maximum properties of one object. */
const PROPERTIES = 10_000;

const { api } = await createTestApp();
const OPERATIONS = api.routes
  .map(({ operation }) => operation)
  .filter(({ input, bodyType }) => input.body !== undefined && bodyType !== 'multipart')
  .map((operation) => [operation.id, operation] as const);

const fields = (count: number, value: unknown): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]));

function* worstValues(
  { node }: BodyPlace,
  bytes: number,
): Generator<readonly [title: string, value: unknown]> {
  const type = Array.isArray(node.type) ? node.type[0] : node.type;
  if (type === 'string') {
    const size = Math.floor(bytes / 4) * 4 - 2000;
    for (const one of ['a', '1', '@', '-', ':', '/', '.', 'A=']) yield [one, one.repeat(size / one.length)];
    yield ['two bytes', 'é'.repeat(size / 2)];
    yield ['four bytes', '\u{1F600}'.repeat(size / 4)];
    yield ['base64 with padding', `${'A'.repeat(size - 1)}!`];
    yield ['a data URL with padding', `data:image/png;base64,${'A'.repeat(size - 100)}!`];
  }
  if (node.items !== undefined) {
    const many = Math.min(VALUES, Math.floor(bytes / 3));
    yield ['empty objects', Array.from({ length: many }, () => ({}))];
    yield ['numbers', Array.from({ length: many }, (_, at) => at)];
    yield ['texts', Array.from({ length: Math.min(VALUES, bytes / 10) }, (_, at) => `t${at}`)];
    yield ['lists', Array.from({ length: many / 2 }, () => [1])];
    yield ['large objects', Array.from({ length: 9 }, () => fields(PROPERTIES, 1))];
    yield ['objects in objects', Array.from({ length: Math.min(3000, bytes / 400) }, () => fields(30, 1))];
  }
  if (type === 'object') {
    yield ['fields', fields(PROPERTIES, 1)];
    yield ['lists in objects', fields(PROPERTIES, [1])];
  }
}

/** Tries until one is within the bound. @returns its time in ms, or that of the best one, and the size of the answer. */
function check(operation: Operation, body: unknown): { ms: number; answer: number } {
  const { body: schema } = operation.input;
  let ms = Number.POSITIVE_INFINITY;
  let answer = 0;
  for (let count = 0; count < TRIES && ms >= MAX_MS; count += 1) {
    const before = process.threadCpuUsage();
    try {
      if (schema !== undefined) validate(schema, body);
    } catch (error) {
      const { details, message } = error as { details: unknown; message: string };
      answer = JSON.stringify({ details, message }).length;
    }
    const { user, system } = process.threadCpuUsage(before);
    ms = Math.min(ms, (user + system) / 1000);
  }
  return { ms, answer };
}

describe('most expensive body of every operation', () => {
  it.each(OPERATIONS)('is validated within 50 ms and answered with a short error by %s', (_, operation) => {
    const bytes = operation.bodyLimit ?? 2 ** 20;
    const slow: string[] = [];
    const long: string[] = [];
    for (const place of getPlaces(operation)) {
      for (const [title, value] of worstValues(place, bytes)) {
        const { ms, answer } = check(operation, place.put(value));
        if (ms >= MAX_MS) slow.push(`${place.path} ${title}: ${ms.toFixed(0)} ms`);
        if (answer > MAX_ANSWER) long.push(`${place.path} ${title}: ${answer} bytes`);
      }
    }
    expect(slow).toEqual([]);
    expect(long).toEqual([]);
  });
});
