import { describe, expect, it } from 'vitest';
import type { Usage } from '../../ports/ledger.ts';
import type { FinishReason } from '../../ports/models.ts';
import { ApiError, type ErrorCode } from '../../shared/errors.ts';
import { EventEncoder, type EventEncoderOptions } from './event-encoder.ts';

const KEEP_ALIVE = ': keep-alive\n\n';
const text = (value: string) => ({ type: 'text', text: value }) as const;
const thinking = (value: string) =>
  ({ type: 'thinking', block: { type: 'thinking', thinking: value } }) as const;

function create(options: Partial<EventEncoderOptions> = {}) {
  return new EventEncoder({
    requestId: 'r-1',
    meta: undefined,
    deltas: false,
    creditsPerUsd: 100,
    ...options,
  });
}

function getEvents(frames: string): unknown[] {
  return frames
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => frame.slice(6))
    .map((data) => (data === '[DONE]' ? data : JSON.parse(data)));
}

function end(
  more: { usage?: Usage; charged?: number; isMetered?: boolean; finishReason?: FinishReason } = {},
) {
  const { usage, charged, isMetered = true, finishReason } = more;
  return { cost: usage && { charged, usage }, isMetered, finishReason };
}

describe('events of an answer', () => {
  it('begin with a comment, and with the facts of the answer if there are any', () => {
    expect(create().head).toBe(KEEP_ALIVE);
    const { head } = create({ meta: { requestId: 'r-1' } });
    expect(head).toBe(`${KEEP_ALIVE}data: {"type":"meta","requestId":"r-1"}\n\n`);
  });

  it('join texts, and send reasoning blocks once with the text after them', () => {
    const encoder = create();
    expect(encoder.flush()).toBe('');
    encoder.add(thinking('hm'));
    expect(encoder.flush()).toBe('');
    encoder.add(text('a'));
    encoder.add(text('b'));
    expect(getEvents(encoder.flush())).toEqual([
      { type: 'content', text: 'ab', thinking: [{ type: 'thinking', thinking: 'hm' }] },
    ]);
    expect(encoder.flush()).toBe('');
    encoder.add(text('c'));
    expect(getEvents(encoder.flush())).toEqual([{ type: 'content', text: 'c' }]);
    expect(getEvents(encoder.end(end()))).toEqual([{ type: 'content', text: '' }, '[DONE]']);
  });

  it('send reasoning blocks without a text at the end', () => {
    const encoder = create();
    encoder.add(thinking('hm'));
    expect(getEvents(encoder.end(end()))).toEqual([
      { type: 'content', text: '', thinking: [{ type: 'thinking', thinking: 'hm' }] },
      '[DONE]',
    ]);
  });

  it('send deltas in the order of their arrival among texts, where they are asked for', () => {
    const encoder = create({ deltas: true });
    encoder.add(text('a'));
    encoder.add({ type: 'thinking_delta', text: 'hm' });
    encoder.add({ type: 'thinking_delta', text: '' });
    encoder.add(text('b'));
    encoder.add({ type: 'tool_use_delta', index: 0, arguments: '{' });
    encoder.add({ type: 'finish', reason: 'stop' });
    encoder.add(text('c'));
    expect(getEvents(encoder.flush())).toEqual([
      { type: 'content', text: 'a' },
      { type: 'reasoning', text: 'hm' },
      { type: 'content', text: 'b' },
      { type: 'tool_use_delta', index: 0, arguments: '{' },
      { type: 'content', text: 'c' },
    ]);
    expect(encoder.flush()).toBe('');
  });

  it('leave out deltas that were not asked for', () => {
    const encoder = create();
    encoder.add({ type: 'thinking_delta', text: 'hm' });
    encoder.add({ type: 'tool_use_delta', index: 0, arguments: '{' });
    expect(encoder.flush()).toBe('');
  });

  it('send one tool call at the end, too', () => {
    const encoder = create();
    encoder.add({ type: 'tool_use', id: 't1', name: 'time', arguments: '{}' });
    expect(getEvents(encoder.end(end()))[0]).toEqual({
      type: 'tool_use',
      text: '',
      tools: [{ name: 'time', arguments: '{}', id: 't1' }],
    });
  });

  it('send the tool calls of an answer together at its end', () => {
    const encoder = create();
    encoder.add({ type: 'tool_use', id: 't1', name: 'weather', arguments: '{}' });
    encoder.add({ type: 'tool_use', id: 't2', name: 'time', arguments: '{"at":1}' });
    expect(encoder.flush()).toBe('');
    expect(getEvents(encoder.end(end()))).toEqual([
      {
        type: 'tool_use',
        text: '',
        tools: [
          { name: 'weather', arguments: '{}', id: 't1' },
          { name: 'time', arguments: '{"at":1}', id: 't2' },
        ],
      },
      '[DONE]',
    ]);
  });
});

describe('cost of an answer', () => {
  const usage = { input: 3, output: 4 };
  const wire = { usage: { inputTokens: 3, outputTokens: 4 } };
  const credits = { credits: { used: 2, usdCost: 0.02 } };

  it.each([
    [
      'is its usage, its charge and the reason of its end',
      { usage, charged: 2_000_000, finishReason: 'stop' },
      { ...wire, ...credits, stopReason: 'stop' },
    ],
    ['has no reason that the model did not give', { usage, charged: 2_000_000 }, { ...wire, ...credits }],
    [
      'has no charge that is not settled yet',
      { usage, finishReason: 'max_tokens' },
      { ...wire, stopReason: 'max_tokens' },
    ],
    ['has no charge where credits are not enforced', { usage, charged: 2_000_000, isMetered: false }, wire],
    ['is absent where nothing was counted', { finishReason: 'stop' }, {}],
  ] as const)('%s', (_, given, expected) => {
    expect(getEvents(create().end(end(given)))).toEqual([
      { type: 'content', text: '', ...expected },
      '[DONE]',
    ]);
  });

  it('is in dollars at the configured rate', () => {
    const encoder = create({ creditsPerUsd: 10 });
    const [event] = getEvents(encoder.end(end({ usage, charged: 2_000_000 })));
    expect(event).toMatchObject({ credits: { used: 2, usdCost: 0.2 } });
  });

  it('is part of the failure of an answer that broke off', () => {
    const error = new ApiError(500, 'The provider failed', { extra: { providerError: { status: 500 } } });
    expect(getEvents(create().fail(error, end({ usage, charged: 2_000_000, finishReason: 'stop' })))).toEqual(
      [
        {
          type: 'error',
          message: 'The provider failed',
          requestId: 'r-1',
          providerError: { status: 500 },
          ...wire,
          ...credits,
        },
        '[DONE]',
      ],
    );
  });
});

describe('failure of an answer', () => {
  it.each([
    ['insufficient_credits', { code: 'insufficient_credits' }],
    ['budget_exceeded', { code: 'budget_exceeded' }],
    ['provider_error', {}],
  ] as const)('has a code that clients branch on: %s', (code: ErrorCode, expected) => {
    expect(getEvents(create().fail(new ApiError(422, 'No.', { code }), end()))).toEqual([
      { type: 'error', message: 'No.', requestId: 'r-1', ...expected },
      '[DONE]',
    ]);
  });
});
