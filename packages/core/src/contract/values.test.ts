import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { invalid } from '../shared/errors.ts';
import { isBase64 } from './base64.ts';
import { parseDataUrl } from './data-url.ts';
import { emailAddress } from './email.ts';
import { isId } from './identifiers.ts';
import { distinctList, distinctStrings, firstDistinct, jsonObject, list, modelList } from './lists.ts';
import { getPosition } from './live-events.ts';
import { header } from './message.ts';
import { jsonReply } from './reply.ts';
import {
  CONFINED_SCOPES,
  getScopeListIssue,
  isScope,
  OFFERED_SCOPES,
  SCOPE_PRESETS,
  SCOPES,
  type Scope,
} from './scopes.ts';
import { text } from './text.ts';

describe('base64', () => {
  it.each(['QQ==', 'QQ', 'QUI=', 'QUI', 'QUJD', 'a+/0'])('is %s', (value) => {
    expect(isBase64(value)).toBe(true);
  });

  it.each(['', 'Q', 'QQ=', '=', 'QU JD', 'QUJD\n', 'QUJ-', 'QQ==QQ==', 'QUI=QUJD'])('is not %j', (value) => {
    expect(isBase64(value)).toBe(false);
  });

  it.each([2 ** 16 - 4, 2 ** 16, 2 ** 16 + 4, 2 ** 17])('may be long: %i characters', (length) => {
    expect(isBase64('A'.repeat(length))).toBe(true);
    expect(isBase64(`${'A'.repeat(length - 4)}QQ==`)).toBe(true);
    for (const at of [0, length - 5, length - 1])
      expect(isBase64(`${'A'.repeat(at)} ${'A'.repeat(length - at - 1)}`)).toBe(false);
    expect(isBase64(`${'A'.repeat(length - 4)}QQ==AAAA`)).toBe(false);
  });
});

describe('data URL', () => {
  const parse = (url: string) => parseDataUrl(url, 'image', invalid);

  it.each([
    ['data:image/PNG;base64,QQ==', 'image/png'],
    ['DATA:text/plain;charset=utf-8;BASE64,QQ==', 'text/plain'],
    [`data:text/plain;name=${'x'.repeat(100)};base64,QQ==`, 'text/plain'],
    [`data:text/${'x'.repeat(282)};base64,QQ==`, `text/${'x'.repeat(282)}`],
  ])('is read: %s', (url, mediaType) => {
    const contentType = url.slice('data:'.length, url.lastIndexOf(';'));
    expect(parse(url)).toEqual({ mediaType, contentType, data: 'QQ==' });
  });

  it.each([
    'https://example.com/',
    ' data:image/png;base64,QQ==',
    'data:image/png,QQ==',
    'data:png;base64,QQ==',
    `data:text/plain;name=${'x'.repeat(101)};base64,QQ==`,
    `data:text/${'x'.repeat(283)};base64,QQ==`,
  ])('is refused: %s', (url) => {
    expect(() => parse(url)).toThrow('image: expected a data URL: data:<media type>;base64,<data>');
  });

  it('is refused with data that is no base64', () => {
    expect(() => parse('data:image/png;base64,Q Q')).toThrow('image: the data of the URL is not base64');
  });
});

describe('text', () => {
  it('is bounded in code points, and says how', () => {
    const schema = text({ min: 2, max: 3 });
    for (const [value, isFine] of [
      ['a', false],
      ['ab', true],
      ['abc', true],
      ['abcd', false],
      ['😀😀😀', true],
      ['😀😀😀😀', false],
    ] as const)
      expect([value, schema.safeParse(value).success]).toEqual([value, isFine]);
    const issue = (one: z.ZodString, value: string) => one.safeParse(value).error?.issues[0]?.message;
    expect(issue(schema, 'a')).toBe('expected at least 2 characters');
    expect(issue(schema, 'abcd')).toBe('expected at most 3 characters');
    expect(issue(text({ min: 1 }), '')).toBe('expected at least 1 character');
    expect(text().safeParse('').success).toBe(true);
    expect(z.toJSONSchema(schema)).toMatchObject({ minLength: 2, maxLength: 3 });
    expect(z.toJSONSchema(text())).not.toHaveProperty('minLength');
  });

  it('is an e-mail address in lower case, of up to 254 characters', () => {
    expect(emailAddress.parse(' Ada@Example.COM ')).toBe('ada@example.com');
    expect(emailAddress.safeParse('a'.repeat(254)).error?.issues[0]?.message).toBe(
      'expected an e-mail address',
    );
    expect(emailAddress.safeParse('a'.repeat(255)).error?.issues.map(({ message }) => message)).toEqual([
      'expected at most 254 characters',
    ]);
  });

  it('is an id of 24 lower-case hexadecimal characters', () => {
    const id = '0123456789abcdef01234567';
    expect([id, `${id}0`, id.slice(1), id.toUpperCase(), `${id}\n`].map(isId)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});

describe('list', () => {
  it('has bounds, counted before its entries are looked at', () => {
    const schema = list(z.string(), { min: 1, max: 2 });
    expect(schema.safeParse([]).success).toBe(false);
    expect(schema.parse(['a', 'a'])).toEqual(['a', 'a']);
    expect(schema.safeParse([1, 2, 3]).error?.issues.map(({ code }) => code)).toEqual(['too_big']);
    expect(schema.safeParse([1, 2]).error?.issues.map(({ code }) => code)).toEqual([
      'invalid_type',
      'invalid_type',
    ]);
    expect(schema.safeParse([1, 2, 3]).error?.issues[0]?.message).toContain('<=2 items');
    let looks = 0;
    const counted = list(z.string(), { max: 1 }).refine(() => {
      looks += 1;
      return true;
    });
    expect([counted.safeParse(['a', 'b']).success, looks]).toEqual([false, 0]);
    expect([counted.safeParse(['a']).success, looks]).toEqual([true, 1]);
    expect(schema.safeParse('aaa').success).toBe(false);
    expect(list(z.string(), { max: 2 }).parse([])).toEqual([]);
    expect(z.toJSONSchema(schema)).toMatchObject({ minItems: 1, maxItems: 2 });
  });

  it('has each entry once, the first one, also by a key', () => {
    expect(distinctStrings(3).parse(['b', 'a', 'b'])).toEqual(['b', 'a']);
    expect(distinctStrings(3).safeParse(['a', 'a', 'a', 'a']).success).toBe(false);
    const byId = distinctList(z.object({ id: z.string(), at: z.number() }), { max: 3 }, ({ id }) => id);
    expect(
      byId.parse([
        { id: 'a', at: 1 },
        { id: 'a', at: 2 },
      ]),
    ).toEqual([{ id: 'a', at: 1 }]);
    expect(z.toJSONSchema(distinctStrings(3))).toMatchObject({ uniqueItems: true, maxItems: 3 });
    expect(firstDistinct(['a', 'b', 'a', 'c'], 2)).toEqual(['a', 'b']);
    expect(firstDistinct(undefined, 2)).toEqual([]);
  });

  it('of models has 1 to 100 ids of 1 to 200 characters', () => {
    const ids = (count: number) => Array.from({ length: count }, (_, at) => `m${at}`);
    for (const [value, isFine] of [
      [ids(0), false],
      [ids(100), true],
      [ids(101), false],
      [[''], false],
      [['x'.repeat(200)], true],
      [['x'.repeat(201)], false],
    ] as const)
      expect(modelList.safeParse(value).success).toBe(isFine);
  });
});

it.each([
  [{}, true],
  [{ a: 1, b: 2 }, true],
  [{ a: 1, b: 2, c: 3 }, false],
  [[], false],
  [null, false],
  ['ab', false],
])('takes objects of at most two properties: %j', (value, isFine) => {
  const result = jsonObject(2).safeParse(value);
  expect(result.success).toBe(isFine);
  if (isFine) expect(result.data).toBe(value);
  else expect(result.error?.issues[0]?.message).toBe('expected an object of at most 2 properties');
});

describe('scopes', () => {
  it('are offered without those of administrators and those that stand alone', () => {
    expect(SCOPES.filter((scope) => !OFFERED_SCOPES.includes(scope)).toSorted()).toEqual(
      ['admin:*', ...CONFINED_SCOPES].toSorted(),
    );
    expect(SCOPE_PRESETS.full).toEqual(OFFERED_SCOPES);
    expect(SCOPE_PRESETS.read).toEqual(OFFERED_SCOPES.filter((scope) => scope.endsWith(':read')));
    expect(SCOPE_PRESETS.readwrite.toSorted()).toEqual(
      OFFERED_SCOPES.filter((scope) => /:(read|write)$/.test(scope)).toSorted(),
    );
    expect([isScope('ai:chat'), isScope('ai:*')]).toEqual([true, false]);
  });

  it.each<[readonly string[], string | undefined]>([
    [['ai:chat', 'files:read'], undefined],
    [['embed:chat'], undefined],
    [[], 'scopes: expected at least one'],
    [['ai:chat', 'embed:chat'], "embed:chat must be a key's only scope"],
    [['ai:chat', 'x'], `scopes: unknown "x". Possible: ${SCOPES.join(', ')}`],
  ])('have rules: %j', (scopes, issue) => {
    expect(getScopeListIssue(scopes as readonly Scope[])).toBe(issue);
  });
});

it.each([
  [{}, undefined, undefined],
  [{}, '7', 7],
  [{ 'last-event-id': ' 12 ' }, '7', 12],
  [{ 'last-event-id': ' ' }, '7', 7],
  [{ 'last-event-id': 'end' }, undefined, 'end'],
])('continues a stream after the last frame: %j, %j', (headers, after, position) => {
  expect(getPosition(headers, after)).toBe(position);
});

it('refuses another position, with its name', () => {
  expect(() => getPosition({ 'last-event-id': 'x' }, '7')).toThrow(
    'Last-Event-ID: must be the id of a frame',
  );
});

it('takes the first value of a header', () => {
  const headers = { a: 'one', b: ['two', 'three'], c: undefined };
  expect(['a', 'b', 'c', 'd'].map((name) => header(headers, name))).toEqual([
    'one',
    'two',
    undefined,
    undefined,
  ]);
});

it('answers JSON with a status and headers', () => {
  expect(jsonReply(201, { a: 1 }, { 'X-A': 'b' })).toMatchObject({
    ...{ status: 201, body: '{"a":1}' },
    headers: { 'Content-Type': 'application/json; charset=utf-8', 'X-A': 'b' },
  });
});
