import { StorageUnavailable } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { INVALID_PARAMS, RpcError } from '../src/json-rpc.ts';
import { orRefused, refused } from '../src/refusals.ts';
import { failed, structured, toFailure, WrongArgument } from '../src/results.ts';
import { OperationRefused } from '../src/runner.ts';

const asError = (message: string) => new RpcError(-7, `gone: ${message}`);
const rejecting = (error: unknown) => orRefused(() => Promise.reject(error), asError);

describe('a refusal of an operation', () => {
  it('is an error of the protocol for a method that is no tool', async () => {
    expect(await orRefused(async () => 'done', asError)).toBe('done');
    await expect(rejecting(new OperationRefused(404, 'File not found', undefined))).rejects.toMatchObject({
      code: -7,
      message: 'gone: File not found',
    });
    await expect(rejecting(new OperationRefused(403, 'no', undefined))).rejects.toMatchObject({
      code: -32000,
      message: 'no',
      status: 200,
    });
    const other = new Error('other');
    await expect(rejecting(other)).rejects.toBe(other);
  });

  it('says when a retry makes sense, if it is known', () => {
    expect(refused(new OperationRefused(429, 'later', '7'))).toMatchObject({
      code: -32000,
      message: 'later',
      data: { status: 429, retryAfter: '7' },
    });
    expect(refused(new OperationRefused(422, 'wrong', undefined))).toMatchObject({ code: INVALID_PARAMS });
    expect(refused(new OperationRefused(422, 'wrong', undefined)).data).toEqual({ status: 422 });
  });

  it('is a result of a tool, which the model reads', () => {
    const said = (text: string) => ({ content: [{ type: 'text', text }], isError: true });
    expect(toFailure(new OperationRefused(403, 'no', undefined))).toEqual(said('no'));
    expect(toFailure(new OperationRefused(429, 'later', '7'))).toEqual(
      said('later (try again in 7 seconds)'),
    );
    expect(toFailure(new WrongArgument('a: unknown argument'))).toEqual(said('a: unknown argument'));
    expect(toFailure(new StorageUnavailable('secret'))).toEqual(
      said('The service is temporarily unavailable. Try again shortly. (try again in 5 seconds)'),
    );
    const other = new Error('other');
    expect(() => toFailure(other)).toThrow(other);
  });
});

describe('the result of a tool', () => {
  it('is structured, and text for clients that show no structured content', () => {
    expect(structured({ a: 1 })).toEqual({
      content: [{ type: 'text', text: '{"a":1}' }],
      structuredContent: { a: 1 },
    });
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const;
    expect(structured({}, [image]).content).toEqual([{ type: 'text', text: '{}' }, image]);
  });

  it('is an error', () => {
    expect(failed('no')).toEqual({ content: [{ type: 'text', text: 'no' }], isError: true });
  });
});
