import { ApiError } from '@questline/core';
import { type CompletionEnd, KEEP_ALIVE, packThinking } from '@questline/core/internal';
import type { FinishReason, ModelPart, ThinkingBlock } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createMessageCollector } from './collector.ts';
import { MessageEncoder } from './encoder.ts';

const text = (value: string): ModelPart => ({ type: 'text', text: value });
const think = (value: string): ModelPart => ({ type: 'thinking_delta', text: value });
const thought = (block: ThinkingBlock): ModelPart => ({ type: 'thinking', block });
const call = (id: string): ModelPart => ({ type: 'tool_use', id, name: 'f', arguments: '{"a":1}' });
const stop = (stopSequence?: string): ModelPart => ({
  type: 'finish',
  reason: 'stop',
  ...(stopSequence !== undefined && { stopSequence }),
});
const SILENT: ModelPart[] = [{ type: 'tool_use_delta', index: 0, arguments: '{' }, text(''), think('')];
const OWN = { type: 'thinking', thinking: 'hm', signature: 's' };
const OTHER = { type: 'reasoning_content', text: 'hm' };
const ends = (finishReason?: FinishReason, isMetered = false): CompletionEnd => ({
  cost: { usage: { input: 10, cachedInput: 30, cacheWrite: 5, output: 2, reasoning: 7 }, charged: 540_000 },
  isMetered,
  finishReason,
});
const USAGE = {
  input_tokens: 10,
  output_tokens: 9,
  cache_creation_input_tokens: 5,
  cache_read_input_tokens: 30,
  output_tokens_details: { thinking_tokens: 7 },
  server_tool_use: null,
};
const REST = { cache_creation: null, inference_geo: null, service_tier: 'standard', speed: null };
const CREDITS = { used: 0.54, usd_cost: 0.0054 };
const stopped = (stop_reason: string, stop_sequence: string | null = null) => ({
  stop_reason,
  stop_sequence,
  stop_details: null,
});
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  container: null,
  diagnostics: null,
};

const textBlock = (value: string) => ({ type: 'text', text: value, citations: null });
const callBlock = (id: string, input: object = { a: 1 }) => ({
  type: 'tool_use',
  id,
  name: 'f',
  input,
  caller: { type: 'direct' },
});
const thinking = (value: string, signature = '') => ({ type: 'thinking', thinking: value, signature });

function collect(parts: readonly ModelPart[], end = ends('stop')) {
  const collector = createMessageCollector();
  for (const part of parts) collector.add(part);
  return collector.finish({ id: 'msg_1', model: 'm' }, end, 100);
}

describe('whole message', () => {
  it('has its stop, its usage, and credits if they are enforced', () => {
    const expected = {
      ...MESSAGE,
      content: [textBlock('a')],
      ...stopped('end_turn'),
      usage: { ...USAGE, ...REST },
    };
    expect(collect([text('a')])).toEqual(expected);
    expect(collect([text('a')], ends('stop', true))).toEqual({ ...expected, credits: CREDITS });
    expect(collect([], { cost: undefined, isMetered: true, finishReason: 'stop' }).usage).toMatchObject({
      input_tokens: 0,
      output_tokens: 0,
    });
  });

  it.each<[FinishReason | undefined, ModelPart[], object]>([
    ['stop', [], stopped('end_turn')],
    ['other', [], stopped('end_turn')],
    [undefined, [], stopped('end_turn')],
    ['stop', [call('c')], stopped('tool_use')],
    ['max_tokens', [call('c')], stopped('max_tokens')],
    ['content_filter', [call('c')], stopped('refusal')],
    ['stop', [stop('END')], stopped('stop_sequence', 'END')],
    ['stop', [stop()], stopped('end_turn')],
    ['stop', [call('c'), stop('END')], stopped('tool_use')],
    ['max_tokens', [stop('END')], stopped('max_tokens')],
  ])('that ends with %s after %j has its reason', (reason, parts, expected) => {
    expect(collect(parts, ends(reason))).toMatchObject(expected);
  });

  it.each<[string, ModelPart[], object[]]>([
    ['text', [text('a'), ...SILENT, text('b')], [textBlock('ab')]],
    [
      'calls between texts',
      [text('a'), call('c'), text('b')],
      [textBlock('a'), callBlock('c'), textBlock('b')],
    ],
    ['calls', [call('c'), call('d')], [callBlock('c'), callBlock('d')]],
    [
      'a thought with its signature',
      [think('h'), think('m'), thought(OWN), text('a')],
      [thinking('hm', 's'), textBlock('a')],
    ],
    ['a thought that was not shown', [thought(OWN), text('a')], [thinking('hm', 's'), textBlock('a')]],
    ['a thought of which a part was shown', [think('h'), thought(OWN)], [thinking('hm', 's')]],
    [
      'a thought that differs from what was shown',
      [think('x'), thought(OWN)],
      [thinking('x'), thinking('hm', 's')],
    ],
    ['a thought without a block', [think('hm'), text('a')], [thinking('hm'), textBlock('a')]],
    [
      'two thoughts',
      [think('a'), thought({ ...OWN, thinking: 'a' }), think('b'), thought({ ...OWN, thinking: 'b' })],
      [thinking('a', 's'), thinking('b', 's')],
    ],
    [
      'a thought of another model behind one of the vendor',
      [think('a'), thought({ ...OWN, thinking: 'a' }), thought(OTHER)],
      [thinking('a', 's'), thinking('', packThinking(OTHER))],
    ],
    [
      'a thought without a block behind one with a signature',
      [thought(OWN), text('a'), think('b')],
      [thinking('hm', 's'), textBlock('a'), thinking('b')],
    ],
    [
      'blocks that only look like those of the vendor',
      [thought({ ...OWN, type: 'other' }), thought({ ...OWN, thinking: 7 })],
      [
        thinking('hm', packThinking({ ...OWN, type: 'other' })),
        thinking('', packThinking({ ...OWN, thinking: 7 })),
      ],
    ],
    [
      'a redacted thought',
      [thought({ type: 'redacted_thinking', data: 'x' })],
      [{ type: 'redacted_thinking', data: 'x' }],
    ],
    ['a thought of another model', [thought(OTHER)], [thinking('hm', packThinking(OTHER))]],
    [
      'a thought of another model that was shown in other words',
      [think('a'), thought(OTHER)],
      [thinking('a', packThinking(OTHER))],
    ],
    [
      'a thought of another model behind the text',
      [think('a'), text('b'), thought(OTHER)],
      [thinking('a'), textBlock('b'), thinking('', packThinking(OTHER))],
    ],
    [
      'thoughts without their signature or data',
      [
        thought({ type: 'thinking', thinking: 'hm', signature: '' }),
        thought({ type: 'thinking', thinking: 'hm' }),
        thought({ type: 'redacted_thinking' }),
      ],
      [
        thinking('hm', packThinking({ type: 'thinking', thinking: 'hm', signature: '' })),
        thinking('hm', packThinking({ type: 'thinking', thinking: 'hm' })),
        thinking('', packThinking({ type: 'redacted_thinking' })),
      ],
    ],
  ])('has %s in order', (_title, parts, content) => {
    expect(collect(parts).content).toEqual(content);
  });
});

describe('streamed message', () => {
  const start = () =>
    new MessageEncoder({
      id: 'msg_1',
      requestId: 'req_1',
      model: 'm',
      creditsPerUsd: 100,
      estimateInput: () => 42,
    });
  const read = (frames: string) =>
    frames
      .split('\n\n')
      .filter((frame) => frame !== '')
      .map((frame) => {
        const [event = '', data = ''] = frame.split('\n');
        const fields = JSON.parse(data.replace('data: ', '')) as { readonly type: string };
        expect(event).toBe(`event: ${fields.type}`);
        return fields;
      });
  const begin = (input: object) => ({
    type: 'message_start',
    message: {
      ...MESSAGE,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: { ...USAGE, ...REST, output_tokens: 0, output_tokens_details: { thinking_tokens: 0 }, ...input },
    },
  });
  const PING = { type: 'ping' };
  const estimated = begin({ input_tokens: 42, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 });

  it('begins with its first part, with the tokens that the provider has reported', () => {
    const encoder = start();
    expect(encoder.head).toBe(KEEP_ALIVE);
    encoder.add({
      type: 'usage',
      usage: { input: 10, cachedInput: 30, cacheWrite: 5, output: 1, reasoning: 1 },
    });
    expect(encoder.flush()).toBe('');
    encoder.add(text('a'));
    encoder.add(text('b'));
    expect(read(encoder.flush())).toEqual([
      begin({}),
      PING,
      { type: 'content_block_start', index: 0, content_block: textBlock('') },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ab' } },
    ]);
    expect(encoder.flush()).toBe('');
  });

  it('begins before a silence, with an estimate, once', () => {
    const encoder = start();
    expect(read(encoder.keepAlive())).toEqual([estimated, PING, PING]);
    expect(read(encoder.keepAlive())).toEqual([PING]);
  });

  it('ends its block, and has its stop and its usage', () => {
    const encoder = start();
    encoder.add(text('a'));
    encoder.add(call('c'));
    expect(read(encoder.end(ends('stop', true)))).toEqual([
      estimated,
      PING,
      { type: 'content_block_start', index: 0, content_block: textBlock('') },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: callBlock('c', {}) },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } },
      { type: 'content_block_stop', index: 1 },
      {
        type: 'message_delta',
        delta: { ...stopped('tool_use'), container: null },
        usage: USAGE,
        credits: CREDITS,
      },
      { type: 'message_stop' },
    ]);
    const open = start();
    open.add(text('a'));
    expect(read(open.end(ends('stop')))).toContainEqual({ type: 'content_block_stop', index: 0 });
    expect(read(start().end(ends('max_tokens')))).toEqual([
      estimated,
      PING,
      { type: 'message_delta', delta: { ...stopped('max_tokens'), container: null }, usage: USAGE },
      { type: 'message_stop' },
    ]);
  });

  it('has thoughts, with every piece', () => {
    const encoder = start();
    encoder.add(think('h'));
    const frames = encoder.flush();
    encoder.add(think('m'));
    encoder.add(thought(OWN));
    expect(read(frames + encoder.flush()).slice(2)).toEqual([
      { type: 'content_block_start', index: 0, content_block: thinking('') },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'h' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'm' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 's' } },
      { type: 'content_block_stop', index: 0 },
    ]);
  });

  it('has whole thoughts, and redacted ones', () => {
    const encoder = start();
    encoder.add(thought({ type: 'redacted_thinking', data: 'x' }));
    encoder.add(thought(OWN));
    expect(read(encoder.flush()).slice(2)).toEqual([
      { type: 'content_block_start', index: 0, content_block: { type: 'redacted_thinking', data: 'x' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: thinking('') },
      { type: 'content_block_delta', index: 1, delta: { type: 'thinking_delta', thinking: 'hm' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'signature_delta', signature: 's' } },
      { type: 'content_block_stop', index: 1 },
    ]);
  });

  it('breaks off with an error, without a stop', () => {
    expect(read(start().fail(new ApiError(503, 'Busy')))).toEqual([
      { type: 'error', error: { type: 'api_error', message: 'Busy' }, request_id: 'req_1' },
    ]);
  });
});
