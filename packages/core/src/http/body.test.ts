import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type ApiHeaders, type ApiRequest, BodyTooLarge } from '../contract/message.ts';
import { type BodyOptions, hasBody, readJson } from './body.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

function toRequest(body: string | Uint8Array | Error, headers: ApiHeaders = JSON_TYPE): ApiRequest {
  const bytes = async (limit: number): Promise<Uint8Array> => {
    if (body instanceof Error) throw body;
    if (body.length > limit) throw new BodyTooLarge(limit);
    return Buffer.from(body);
  };
  return { headers, body: { bytes } } as unknown as ApiRequest;
}

/** A request whose body the host has read. */
function toRead(parsed: unknown, headers: ApiHeaders = JSON_TYPE): ApiRequest {
  return { headers, body: { parsed } } as unknown as ApiRequest;
}

function read(
  body: string | Uint8Array | Error,
  headers: ApiHeaders = JSON_TYPE,
  options: Partial<BodyOptions> = {},
) {
  return readJson(toRequest(body, headers), { limit: 2 ** 20, ...options });
}

function refusal(message: string) {
  return { status: 400, message, applicationCode: 'VALIDATION_ERROR' };
}

describe('a JSON body', () => {
  it('is an object', async () => {
    expect(await read('{"a":[1,null,"x"]}')).toEqual({ a: [1, null, 'x'] });
  });

  it('is an empty object when nothing is sent, whatever its headers say', async () => {
    expect(await read('', {})).toEqual({});
    expect(await read('', { 'content-encoding': 'gzip' })).toEqual({});
    expect(await readJson(toRead('', {}), { limit: 1 })).toEqual({});
  });

  it.each([
    ['null', 'null'],
    ['[1]', 'an array'],
    ['1', 'a number'],
    ['"secret"', 'a string'],
  ])('is rejected when it is %s', async (body, kind) => {
    const message = `the body must be a JSON object, got ${kind}`;
    await expect(read(body)).rejects.toMatchObject({ status: 422, message });
  });

  it('is rejected without being quoted when it is no JSON or no UTF-8', async () => {
    await expect(read('{"secret')).rejects.toMatchObject(refusal('the body is not valid JSON'));
    const bytes = new Uint8Array([0x7b, 0xff, 0x7d]);
    await expect(read(bytes)).rejects.toMatchObject(refusal('the body is not valid UTF-8'));
  });

  it('may be a view of other bytes', async () => {
    const whole = new TextEncoder().encode('xx{"a":1}yy');
    const request = toRead(whole.subarray(2, 9));
    expect(await readJson(request, { limit: 100 })).toEqual({ a: 1 });
  });

  it('is decompressed', async () => {
    const gzip = { ...JSON_TYPE, 'content-encoding': 'gzip' };
    const bytes = gzipSync('{"a":1}');
    expect(await read(bytes, gzip)).toEqual({ a: 1 });
    expect(await read('{"a":1}', { ...gzip, 'content-encoding': 'identity' })).toEqual({ a: 1 });
    await expect(read('x', gzip)).rejects.toMatchObject(
      refusal('Content-Encoding: the body is not valid gzip'),
    );
    await expect(read(bytes, { ...gzip, 'content-encoding': 'zstd' })).rejects.toMatchObject(
      refusal('Content-Encoding must be gzip, deflate, br or absent'),
    );
    const large = gzipSync(`{"a":"${'x'.repeat(993)}"}`);
    await expect(read(large, gzip, { limit: 1001 })).resolves.toHaveProperty('a');
    await expect(read(large, gzip, { limit: 1000 })).rejects.toMatchObject({ status: 413 });
  });

  it('is rejected beyond the limit', async () => {
    await expect(read('{"a":1}', JSON_TYPE, { limit: 6 })).rejects.toMatchObject({
      status: 413,
      message: 'the body is larger than 6 bytes',
      applicationCode: 'PAYLOAD_TOO_LARGE',
      extra: { maxSize: 6 },
    });
    expect(await read('{"a":1}', JSON_TYPE, { limit: 7 })).toEqual({ a: 1 });
  });

  it('is rejected when the client breaks off', async () => {
    const cause = new Error('reset');
    await expect(read(cause)).rejects.toMatchObject({
      status: 400,
      message: 'the request body could not be read to its end',
      cause,
    });
    const bytes = () => Promise.reject(undefined);
    const request = { headers: {}, body: { bytes } } as unknown as ApiRequest;
    await expect(readJson(request, { limit: 1 })).rejects.toMatchObject({ status: 400 });
  });

  it('is no form', async () => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    await expect(read('a=1', type)).rejects.toMatchObject(
      refusal('Content-Type must be application/json for a request with a body'),
    );
  });
});

describe('a body that may be larger', () => {
  const larger = {
    limit: 20,
    matches: (value: unknown) => JSON.stringify(value)?.startsWith('{"a"') === true,
  };
  const readLarger = (body: string) => read(body, JSON_TYPE, { limit: 7, larger });

  it('is read up to the larger limit if it matches', async () => {
    expect(await readLarger('{"a":12345678901234}')).toEqual({ a: 12345678901234 });
    await expect(readLarger('{"a":123456789012345}')).rejects.toMatchObject({ extra: { maxSize: 20 } });
  });

  it('is rejected beyond the other limit if it does not match or is malformed', async () => {
    expect(await readLarger('{"b":1}')).toEqual({ b: 1 });
    await expect(readLarger('{"b":12}')).rejects.toMatchObject({ status: 413, extra: { maxSize: 7 } });
    await expect(readLarger('{"a":12')).rejects.toMatchObject(refusal('the body is not valid JSON'));
    await expect(readLarger('{"a":123')).rejects.toMatchObject({ status: 413, extra: { maxSize: 7 } });
  });
});

describe('a body that the host has read', () => {
  it('is the value, the text or the bytes', async () => {
    expect(await readJson(toRead({ a: 1 }, {}), { limit: 1 })).toEqual({ a: 1 });
    expect(await readJson(toRead('{"a":1}'), { limit: 1 })).toEqual({ a: 1 });
    expect(await readJson(toRead(Buffer.from('{"a":1}')), { limit: 1 })).toEqual({ a: 1 });
    await expect(readJson(toRead('{"a":1}', {}), { limit: 1 })).rejects.toMatchObject({ status: 400 });
    await expect(readJson(toRead([1]), { limit: 1 })).rejects.toMatchObject({
      message: 'the body must be a JSON object, got an array',
    });
  });

  it('is cleaned like others', async () => {
    const value = JSON.parse('{"__proto__":{"b":1},"a":"x\\ud800","c\\udc00":1}');
    expect(await readJson(toRead(value), { limit: 1 })).toEqual({ a: 'x\ufffd', 'c\ufffd': 1 });
    await expect(readJson(toRead({ a: '\u0000' }), { limit: 1 })).rejects.toMatchObject({ status: 422 });
    const many = { a: Array.from({ length: 99_999 }, () => 1) };
    await expect(readJson(toRead(many), { limit: 1 })).rejects.toMatchObject(
      refusal('the body holds more than 100000 values'),
    );
  });
});

describe('an operation without a body', () => {
  it('notices one that is sent', async () => {
    expect(await hasBody(toRequest(''))).toBe(false);
    expect(await hasBody(toRequest('x'))).toBe(true);
  });

  it('notices one that was read before', async () => {
    const bytes = async () => Buffer.from('x');
    expect(await hasBody({ body: { bytes } } as unknown as ApiRequest)).toBe(true);
  });

  it('reads nothing of one', async () => {
    const limits: number[] = [];
    const bytes = async (limit: number) => {
      limits.push(limit);
      return new Uint8Array(0);
    };
    expect(await hasBody({ body: { bytes } } as unknown as ApiRequest)).toBe(false);
    expect(limits).toEqual([0]);
  });

  it('notices one that the host has read', async () => {
    expect(await hasBody(toRead({}))).toBe(false);
    expect(await hasBody(toRead({ a: 1 }))).toBe(true);
    expect(await hasBody(toRead('x'))).toBe(true);
    expect(await hasBody(toRead(null))).toBe(true);
    expect(await hasBody(toRead(5))).toBe(true);
  });

  it('rejects one that breaks off', async () => {
    const cause = new Error('reset');
    await expect(hasBody(toRequest(cause))).rejects.toMatchObject({ status: 400, cause });
  });
});
