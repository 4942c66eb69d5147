import { ApiError } from '@questline/core';
import type { CompletionEnd } from '@questline/core/internal';
import type { FinishReason, ModelPart } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { ChunkEncoder } from './chunks.ts';
import { createWholeAnswer } from './whole.ts';

const ABOUT = { id: 'c1', created: 7, model: 'm' };
const text = (value: string): ModelPart => ({ type: 'text', text: value });
const think = (value: string): ModelPart => ({ type: 'thinking_delta', text: value });
const call = (id: string): ModelPart => ({ type: 'tool_use', id, name: 'f', arguments: '{}' });
const BLOCK = { type: 'thinking', thinking: 'hm', signature: 's' };
const ends = (finishReason?: FinishReason, isMetered = false): CompletionEnd => ({
  cost: { usage: { input: 10, cachedInput: 30, cacheWrite: 5, output: 2, reasoning: 7 }, charged: 540_000 },
  isMetered,
  finishReason,
});
const SILENT: ModelPart[] = [
  { type: 'tool_use_delta', index: 0, arguments: '{' },
  { type: 'usage', usage: { input: 1, output: 1 } },
  { type: 'finish', reason: 'stop' },
];
const REASONS: readonly [FinishReason | undefined, string, string][] = [
  ['stop', 'stop', 'tool_calls'],
  ['tool_use', 'stop', 'tool_calls'],
  ['other', 'stop', 'tool_calls'],
  [undefined, 'stop', 'tool_calls'],
  ['max_tokens', 'length', 'length'],
  ['content_filter', 'content_filter', 'content_filter'],
];
const USAGE = {
  prompt_tokens: 45,
  completion_tokens: 9,
  total_tokens: 54,
  prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 5, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 7,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
};
const CREDITS = { used: 0.54, usd_cost: 0.0054 };
const wireCall = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });

describe('streamed chat completion', () => {
  const start = (includesUsage = false) => new ChunkEncoder({ ...ABOUT, includesUsage, creditsPerUsd: 100 });
  const read = (frames: string): unknown[] =>
    frames
      .split('\n\n')
      .filter((frame) => frame !== '')
      .map((frame) => (frame === 'data: [DONE]' ? '[DONE]' : JSON.parse(frame.slice('data: '.length))));
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...ABOUT,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  });
  const deltas = (frames: string) =>
    read(frames).map((frame) => (frame as ReturnType<typeof chunk>).choices[0]?.delta);

  it('begins with its role, and ends with its reason', () => {
    const encoder = start();
    expect(read(encoder.head)).toEqual([chunk({ role: 'assistant', content: '' })]);
    expect(read(encoder.end(ends('stop', true)))).toEqual([chunk({}, 'stop'), '[DONE]']);
  });

  it('has usage in a chunk of its own if it is requested, and credits if they are enforced', () => {
    const encoder = start(true);
    expect(read(encoder.head)).toEqual([{ ...chunk({ role: 'assistant', content: '' }), usage: null }]);
    const about = { ...ABOUT, object: 'chat.completion.chunk', choices: [] };
    expect(read(encoder.end(ends('stop', true)))).toEqual([
      { ...chunk({}, 'stop'), usage: null },
      { ...about, usage: USAGE, credits: CREDITS },
      '[DONE]',
    ]);
    expect(read(start(true).end(ends('stop')))).toContainEqual({ ...about, usage: USAGE });
  });

  it.each(REASONS)('that ends with %s has the reason %s, or %s after a call', (reason, plain, called) => {
    const encoder = start();
    expect(read(encoder.end(ends(reason)))).toContainEqual(chunk({}, plain));
    encoder.add(call('t1'));
    expect(read(encoder.end(ends(reason)))).toContainEqual(chunk({}, called));
  });

  it('joins text and reasoning that come together, in their order', () => {
    const encoder = start();
    const parts = [
      think('h'),
      think('m'),
      text('a'),
      text('b'),
      think('x'),
      ...SILENT,
      text('c'),
      call('t1'),
      text('d'),
      call('t2'),
    ];
    for (const part of parts) encoder.add(part);
    expect(deltas(encoder.flush())).toEqual([
      { reasoning_content: 'hm' },
      { content: 'ab' },
      { reasoning_content: 'x' },
      { content: 'c' },
      { tool_calls: [{ index: 0, ...wireCall('t1') }] },
      { content: 'd' },
      { tool_calls: [{ index: 1, ...wireCall('t2') }] },
    ]);
    expect(encoder.flush()).toBe('');
  });

  it('has all blocks of its reasoning after its text', () => {
    const encoder = start();
    for (const part of [
      { type: 'thinking', block: BLOCK },
      text('a'),
      { type: 'thinking', block: BLOCK },
    ] as ModelPart[]) {
      encoder.add(part);
    }
    expect(deltas(encoder.flush())).toEqual([{ content: 'a' }]);
    expect(read(encoder.end(ends('stop')))).toEqual([
      chunk({ reasoning_details: [BLOCK, BLOCK] }),
      chunk({}, 'stop'),
      '[DONE]',
    ]);
  });

  it('has a single block of its reasoning', () => {
    const encoder = start();
    encoder.add({ type: 'thinking', block: BLOCK });
    expect(read(encoder.end(ends('stop')))[0]).toEqual(chunk({ reasoning_details: [BLOCK] }));
  });

  it('breaks off with an error', () => {
    expect(read(start().fail(new ApiError(503, 'Busy')))).toEqual([
      { error: { message: 'Busy', type: 'server_error', param: null, code: null } },
    ]);
  });
});

describe('whole chat completion', () => {
  const collect = (parts: readonly ModelPart[], end = ends('stop')) => {
    const answer = createWholeAnswer();
    for (const part of parts) answer.add(part);
    return answer.finish(ABOUT, end, 100);
  };
  const whole = (message: object, finish_reason = 'stop') => ({
    ...ABOUT,
    object: 'chat.completion',
    choices: [
      { index: 0, message: { role: 'assistant', refusal: null, ...message }, logprobs: null, finish_reason },
    ],
    usage: USAGE,
  });

  it('has its text, its reasoning and its usage', () => {
    expect(collect([])).toEqual(whole({ content: '' }));
    expect(
      collect([think('h'), think('m'), { type: 'thinking', block: BLOCK }, text('a'), ...SILENT, text('b')]),
    ).toEqual(whole({ content: 'ab', reasoning_content: 'hm', reasoning_details: [BLOCK] }));
    expect(collect([], ends('stop', true))).toEqual({ ...whole({ content: '' }), credits: CREDITS });
  });

  it('may have a single call', () => {
    expect(collect([call('t1')])).toEqual(
      whole({ content: null, tool_calls: [wireCall('t1')] }, 'tool_calls'),
    );
  });

  it('has no text beside calls unless there is some', () => {
    const tool_calls = [wireCall('t1'), wireCall('t2')];
    expect(collect([call('t1'), call('t2')])).toEqual(whole({ content: null, tool_calls }, 'tool_calls'));
    expect(collect([text('a'), call('t1'), call('t2')])).toEqual(
      whole({ content: 'a', tool_calls }, 'tool_calls'),
    );
  });

  it.each(REASONS)('that ends with %s has the reason %s, or %s with a call', (reason, plain, called) => {
    expect(collect([], ends(reason)).choices[0]?.finish_reason).toBe(plain);
    expect(collect([call('t1')], ends(reason)).choices[0]?.finish_reason).toBe(called);
  });

  it('counts nothing without a cost', () => {
    const { usage } = collect([], { cost: undefined, isMetered: true, finishReason: 'stop' });
    expect(usage).toMatchObject({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
  });
});
