import { describe, expect, it } from 'vitest';
import type { ApiRequest } from '../contract/message.ts';
import { readJson } from './body.ts';

const LARGE = 2 ** 18;

function read(body: string, type = 'application/json', allowsForm = false) {
  const bytes = async () => Buffer.from(body);
  const request = { headers: { 'content-type': type }, body: { bytes } } as unknown as ApiRequest;
  return readJson(request, { limit: 2 ** 25, allowsForm });
}

describe('the type of a body', () => {
  it.each([
    'application/json',
    'application/json;charset=utf-8',
    'Application/JSON ; Charset="UTF-8"',
    'application/json; boundary=x; charset=utf8',
  ])('may be %s', async (type) => {
    expect(await read('{"a":1}', type)).toEqual({ a: 1 });
  });

  it.each(['text/plain', '', 'application/x-www-form-urlencoded', 'application/jsonx'])(
    'may not be %j',
    async (type) => {
      await expect(read('{}', type)).rejects.toMatchObject({
        status: 400,
        message: 'Content-Type must be application/json for a request with a body',
      });
    },
  );

  it('may be a form where the operation accepts one', async () => {
    const form = 'application/x-www-form-urlencoded';
    expect(await read('a=1&b=%20x', form, true)).toEqual({ a: '1', b: ' x' });
    expect(await read('{"a":1}', 'application/json', true)).toEqual({ a: 1 });
    expect(await read('{"a":1}', 'application/json; charset=utf-8', true)).toEqual({ a: 1 });
    await expect(read('a', 'text/plain', true)).rejects.toMatchObject({
      message:
        'Content-Type must be application/json or application/x-www-form-urlencoded for a request with a body',
    });
  });

  it('has the charset utf-8', async () => {
    await expect(read('{}', 'application/json; charset=latin1')).rejects.toMatchObject({
      status: 400,
      message: 'Content-Type: the charset must be utf-8',
    });
  });
});

describe('a form', () => {
  const readForm = (body: string) => read(body, 'application/x-www-form-urlencoded', true);
  const fields = (count: number) => Array.from({ length: count }, (_, at) => `f${at}=1`).join('&');

  it('has each field once and at most 100 fields', async () => {
    await expect(readForm('a=1&b=2&a=1')).rejects.toMatchObject({
      status: 400,
      message: 'a form field occurs more than once',
    });
    expect(Object.keys(await readForm(fields(100)))).toHaveLength(100);
    await expect(readForm(fields(101))).rejects.toMatchObject({
      status: 400,
      message: 'a form has at most 100 fields',
    });
  });

  it('has no U+0000 and loses keys that reach prototypes', async () => {
    await expect(readForm('a=%00')).rejects.toMatchObject({ status: 422 });
    expect(Object.keys(await readForm('__proto__=1&constructor=1&a=1'))).toEqual(['a']);
  });
});

describe('the content of a body', () => {
  it('loses keys that reach prototypes, at any depth', async () => {
    const polluting = '"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}';
    const body = await read(`{${polluting},"list":[{${polluting},"kept":1}]}`);
    expect(body).toEqual({ list: [{ kept: 1 }] });
    expect(Object.keys(body)).toEqual(['list']);
    expect(Object.getPrototypeOf(body)).toBe(Object.prototype);
  });

  it('has lone surrogates replaced and keeps pairs, in keys and values', async () => {
    expect(await read('{"\\ud83d\\ude00":["\\ud83d\\ude00","\\ud800"],"k\\ud800":"\\udc00"}')).toEqual({
      '\u{1f600}': ['\u{1f600}', '\ufffd'],
      'k\ufffd': '\ufffd',
    });
  });

  it.each(['{"a":"\\u0000"}', '{"a\\u0000":1}', '{"a":["\\u0000"]}'])(
    'has no U+0000, as in %s',
    async (body) => {
      const details = [{ path: '', message: 'strings must not contain U+0000' }];
      await expect(read(body)).rejects.toMatchObject({ status: 422, details });
    },
  );

  it('is nested at most 100 levels deep', async () => {
    const nest = (levels: number, open: string, close: string) =>
      `{"a":${open.repeat(levels - 1)}1${close.repeat(levels - 1)}}`;
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      expect(await read(nest(100, open, close))).toHaveProperty('a');
      await expect(read(nest(101, open, close))).rejects.toMatchObject({
        status: 400,
        message: 'the body is nested more than 100 levels deep',
      });
    }
  });

  it('has at most 10,000 properties in an object', async () => {
    const properties = (count: number) =>
      `{"a":{${Array.from({ length: count }, (_, at) => `"${at}":1`).join(',')}}}`;
    expect(await read(properties(10_000))).toHaveProperty('a');
    await expect(read(properties(10_001))).rejects.toMatchObject({
      status: 400,
      message: 'the body holds an object of more than 10000 properties',
    });
  });

  it('has at most 100,000 values', async () => {
    const values = (count: number) => `{"a":[${'1,'.repeat(count - 3)}1]}`;
    expect(await read(values(100_000))).toHaveProperty('a');
    await expect(read(values(100_001))).rejects.toMatchObject({
      status: 400,
      message: 'the body holds more than 100000 values',
    });
  });

  it('is not parsed when it is large and has far more values', async () => {
    const message = 'the body holds more than 100000 values';
    await expect(read(','.repeat(LARGE + 1))).rejects.toMatchObject({ status: 400, message });
    await expect(read(','.repeat(LARGE))).rejects.toMatchObject({ message: 'the body is not valid JSON' });
  });
});

it('reads a large body like others', async () => {
  const text = 'x'.repeat(LARGE);
  expect(await read(`{"a":"${text}"}`)).toEqual({ a: text });
  await expect(read(`["${text}"]`)).rejects.toMatchObject({ status: 422 });
});

it.each([
  [LARGE - 1, 0],
  [LARGE, 3],
])('lets others go on while a body of %d bytes is read: %d times', async (size, count) => {
  let turns = 0;
  let next = setImmediate(function take() {
    turns += 1;
    next = setImmediate(take);
  });
  await read(`{"a":"${'x'.repeat(size - 8)}"}`);
  clearImmediate(next);
  expect(turns).toBe(count);
});
