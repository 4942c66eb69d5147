import { ApiError } from '@questline/core';
import type { StoredResponse } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { toWireResponse } from './stored-view.ts';
import { readWire, toOutputItems } from './stored-wire.ts';
import { createStoredWriter } from './stored-writer.ts';

const ID = '0123456789abcdef01234567';
const TEXT = { type: 'text', text: 'a' } as const;

function toStored(more: Partial<StoredResponse> = {}, request: object = {}): StoredResponse {
  return {
    ...{ id: ID, status: 'completed', isClosed: true, earlier: [], input: '[]', updatedAt: 5_000_999 },
    wire: JSON.stringify({ request: { model: 'asked', ...request }, tools: [], size: 0 }),
    output: { parts: [TEXT], finishReason: 'stop' },
    ...more,
  } as StoredResponse;
}

const view = (more: Partial<StoredResponse> = {}) => toWireResponse(toStored(more), 1000);
const cut = (finishReason: 'max_tokens' | 'content_filter') => ({
  output: { parts: [TEXT], finishReason },
});

describe('stored response', () => {
  it.each(['queued', 'in_progress'] as const)('has no output while it is %s', (status) => {
    expect(view({ status, usage: { input: 1 }, credits: 1 })).toEqual({
      model: 'asked',
      status,
      output: [],
      completed_at: null,
      error: null,
      incomplete_details: null,
    });
  });

  it('has its output, and the time of its end in seconds', () => {
    expect(view()).toMatchObject({
      model: 'asked',
      status: 'completed',
      output: [{ type: 'message', status: 'completed', content: [{ text: 'a' }] }],
      completed_at: 5000,
      error: null,
      incomplete_details: null,
    });
    expect(view()).not.toHaveProperty('usage');
    expect(view()).not.toHaveProperty('credits');
  });

  it('names the model that answered', () => {
    const output = { parts: [TEXT], finishReason: 'stop', model: 'other' } as const;
    expect(view({ output })).toMatchObject({ model: 'other' });
  });

  it.each([
    ['max_tokens', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ] as const)('is incomplete with the end %s', (finishReason, reason) => {
    expect(view(cut(finishReason))).toMatchObject({
      status: 'incomplete',
      output: [{ status: 'incomplete' }],
      completed_at: null,
      incomplete_details: { reason },
    });
  });

  it('is not incomplete where it was cancelled or has failed', () => {
    expect(view({ ...cut('max_tokens'), status: 'cancelled' })).toMatchObject({
      status: 'cancelled',
      output: [{ status: 'incomplete' }],
      completed_at: null,
      incomplete_details: null,
    });
    const failure = new ApiError(502, 'away');
    expect(view({ ...cut('max_tokens'), status: 'failed', failure })).toMatchObject({
      status: 'failed',
      // The answer broke off within its item.
      output: [],
      completed_at: null,
      error: { code: 'server_error', message: 'away' },
      incomplete_details: null,
    });
  });
});

describe('output items of a stored response', () => {
  it.each([
    ['stop', 'completed'],
    ['max_tokens', 'incomplete'],
    ['content_filter', 'incomplete'],
  ] as const)('with the end %s are %s', (finishReason, status) => {
    const stored = toStored();
    expect(toOutputItems(ID, readWire(stored), { parts: [TEXT], finishReason })).toMatchObject([{ status }]);
  });
});

describe('events of a stored response', () => {
  /** The types of the events in a text, with the status of each response. */
  const read = (text: string) =>
    [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => {
      const { type, response } = JSON.parse(data) as { type: string; response?: Record<string, unknown> };
      return response === undefined ? [type] : [type, response.status, response.error, response.output];
    });
  const open = (background: boolean, after?: number) =>
    createStoredWriter(readWire(toStored({}, { background })), { id: ID, after, creditsPerUsd: 1000 });

  it('begin with the state that its client saw', () => {
    expect(read(open(false).head)).toEqual([
      ['response.created', 'in_progress', null, []],
      ['response.in_progress', 'in_progress', null, []],
    ]);
    expect(read(open(true).head)).toEqual([
      ['response.created', 'queued', null, []],
      ['response.queued', 'queued', null, []],
      ['response.in_progress', 'in_progress', null, []],
    ]);
    expect(read(open(true, 1).head)).toEqual([['response.in_progress', 'in_progress', null, []]]);
  });

  it.each([
    [{}, [['response.completed', 'completed']]],
    [cut('max_tokens'), [['response.incomplete', 'incomplete']]],
    [{ status: 'cancelled' }, [['response.incomplete', 'cancelled']]],
    [{ status: 'failed', failure: new ApiError(502, 'away') }, [['response.failed', 'failed'], ['error']]],
  ] as const)('end with %j', (more, expected) => {
    const writer = open(false);
    writer.add(TEXT);
    const events = read(writer.end(toStored(more as Partial<StoredResponse>)));
    const last = events.slice(-expected.length).map((event) => event.slice(0, 2));
    expect(last).toEqual(expected);
  });
});
