import { ApiError } from '@questline/core';
import { describe, expect, it } from 'vitest';
import {
  checkOnePage,
  isObject,
  type JsonObject,
  RpcError,
  readMessage,
  rpcErrors,
  toErrorMessage,
} from '../src/json-rpc.ts';

const ask = (more: JsonObject = {}): JsonObject => ({ jsonrpc: '2.0', id: 1, method: 'ping', ...more });

describe('a message', () => {
  it('is a request if it has an id', () => {
    const request = { kind: 'request', method: 'ping', params: {} };
    for (const id of [1, 0, -7, '', 'one', Number.MAX_SAFE_INTEGER])
      expect(readMessage(ask({ id }))).toEqual({ ...request, id });
    expect(readMessage(ask({ params: { a: 1 } }))).toEqual({ ...request, id: 1, params: { a: 1 } });
  });

  it('needs no answer without an id, or as an answer', () => {
    for (const body of [
      { jsonrpc: '2.0', method: 'ping' },
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: 1, error: {} },
    ])
      expect(readMessage(body)).toEqual({ kind: 'notice' });
    expect(readMessage(ask({ result: {} })).kind).toBe('request');
    expect(readMessage(ask({ error: {} })).kind).toBe('request');
  });

  it('of a wrong form is refused with the reason', () => {
    for (const [body, message] of [
      [ask({ jsonrpc: '1.0' }), 'jsonrpc: expected "2.0"'],
      [ask({ jsonrpc: undefined }), 'jsonrpc: expected "2.0"'],
      [{ jsonrpc: '2.0', id: 1 }, 'method: expected text'],
      [ask({ method: 7 }), 'method: expected text'],
      [ask({ method: 7, result: {} }), 'method: expected text'],
      [ask({ params: [] }), 'params: expected an object'],
      [ask({ params: null }), 'params: expected an object'],
      [{ jsonrpc: '2.0', method: 'ping', params: 'x' }, 'params: expected an object'],
      [ask({ id: null }), 'id: expected text or a whole number'],
      [ask({ id: 1.5 }), 'id: expected text or a whole number'],
      [ask({ id: 2 ** 53 }), 'id: expected text or a whole number'],
      [ask({ id: {} }), 'id: expected text or a whole number'],
    ] as const) {
      expect(() => readMessage(body), JSON.stringify(body)).toThrow(
        expect.objectContaining({ code: -32600, status: 400, message, data: undefined }),
      );
    }
  });
});

describe('an error of the protocol', () => {
  it('has the status 200 unless it says another', () => {
    expect(new RpcError(-1, 'no')).toMatchObject({ code: -1, message: 'no', status: 200, data: undefined });
    expect(new RpcError(-1, 'no', { status: 404, data: { a: 1 } })).toMatchObject({
      status: 404,
      data: { a: 1 },
    });
  });

  it('is written with its data, if it has some', () => {
    expect(toErrorMessage(7, new RpcError(-1, 'no'))).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: { code: -1, message: 'no' },
    });
    expect(toErrorMessage(null, new RpcError(-1, 'no', { data: {} }))).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -1, message: 'no', data: {} },
    });
  });

  it('stands for a refusal of the request', () => {
    const codeOf = (status: number) => {
      const written = rpcErrors(new ApiError(status, 'no'), 'r-1');
      return [written.status, (written.body.error as JsonObject).code];
    };
    expect([400, 401, 422, 429, 499, 500, 503].map(codeOf)).toEqual([
      [400, -32700],
      [401, -32600],
      [400, -32600],
      [429, -32600],
      [499, -32600],
      [500, -32603],
      [503, -32603],
    ]);
    expect(rpcErrors(new ApiError(402, 'no credit'), 'r-1')).toEqual({
      status: 402,
      body: {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32600, message: 'no credit', data: { status: 402, request_id: 'r-1' } },
      },
    });
    const coded = rpcErrors(new ApiError(402, 'no credit', { code: 'insufficient_credits' }), 'r-1');
    expect(coded.body).toMatchObject({
      error: { data: { status: 402, request_id: 'r-1', errorCode: 'insufficient_credits' } },
    });
  });
});

describe('a value of a message', () => {
  it('is an object or not', () => {
    expect([{}, { a: 1 }].map(isObject)).toEqual([true, true]);
    expect([null, undefined, [], '', 1, true].map(isObject)).toEqual(Array(6).fill(false));
  });

  it('that asks for another page of a list with one page is refused', () => {
    expect(() => checkOnePage({})).not.toThrow();
    for (const cursor of ['', null, 'x'])
      expect(() => checkOnePage({ cursor })).toThrow(
        expect.objectContaining({ code: -32602, message: 'cursor: there is one page', status: 200 }),
      );
  });
});
