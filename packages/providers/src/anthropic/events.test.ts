import type { ModelPart } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { Faults } from '../http/faults.ts';
import { readAnthropicError } from './errors.ts';
import { MessageDecoder } from './events.ts';

function decode(...events: readonly object[]): ModelPart[] {
  const decoder = new MessageDecoder(new Faults('vendor', '', readAnthropicError));
  const parts: ModelPart[] = [];
  let isComplete = false;
  for (const event of events) {
    expect(isComplete).toBe(false);
    isComplete = decoder.event(JSON.stringify(event), parts);
  }
  if (!isComplete) decoder.end(parts);
  return parts;
}

const start = (usage?: object) => ({ type: 'message_start', message: { model: 'claude', usage } });
const open = (index: number, content_block: object) => ({
  type: 'content_block_start',
  index,
  content_block,
});
const add = (index: number, type: string, fields: object) => ({
  type: 'content_block_delta',
  index,
  delta: { type, ...fields },
});
const close = (index: number) => ({ type: 'content_block_stop', index });
const end = (stop_reason: string | null, usage?: object, stop_sequence: string | null = null) => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence },
  ...(usage !== undefined && { usage }),
});
const STOP = { type: 'message_stop' };

const usageIn = (parts: readonly ModelPart[]) => parts.findLast((part) => part.type === 'usage')?.usage;

describe('answer of Anthropic', () => {
  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'max_tokens'],
    ['model_context_window_exceeded', 'max_tokens'],
    ['tool_use', 'tool_use'],
    ['refusal', 'content_filter'],
    ['something_new', 'other'],
  ])('that ends with %s has the reason %s', (word, reason) => {
    expect(decode(start(), end(word), STOP)).toEqual([{ type: 'finish', reason, model: 'claude' }]);
  });

  it('names the stop sequence that ended it', () => {
    expect(decode(start(), end('stop_sequence', undefined, 'END'), end(null), STOP)).toEqual([
      { type: 'finish', reason: 'stop', model: 'claude', stopSequence: 'END' },
    ]);
  });

  it('is complete with its last event', () => {
    const decoder = new MessageDecoder(new Faults('vendor', '', readAnthropicError));
    expect([start(), end('end_turn'), STOP].map((event) => decoder.event(JSON.stringify(event), []))).toEqual(
      [false, false, true],
    );
  });

  it('is complete without its last event, and not without a reason', () => {
    expect(decode(start(), end('end_turn'))).toHaveLength(1);
    expect(() => decode(start(), end(null), STOP)).toThrow('before the answer was complete');
  });

  it('has usage in all classes, with the thinking outside the output', () => {
    const counts = { input_tokens: 20, cache_read_input_tokens: 100, cache_creation_input_tokens: 30 };
    const last = { output_tokens: 12, output_tokens_details: { thinking_tokens: 7 } };
    expect(usageIn(decode(start({ ...counts, output_tokens: 1 }), end('end_turn', last), STOP))).toEqual({
      input: 20,
      cachedInput: 100,
      cacheWrite: 30,
      output: 5,
      reasoning: 7,
    });
    const more = { output_tokens: 3, output_tokens_details: { thinking_tokens: 7 } };
    expect(usageIn(decode(start(), end('end_turn', more), STOP))).toMatchObject({ input: 0, output: 0 });
  });

  it('has no tokens that are not reported', () => {
    const none = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 };
    expect(usageIn(decode(start({}), end('end_turn'), STOP))).toEqual(none);
  });

  it('keeps counts that a later event omits or has as null', () => {
    const counts = { input_tokens: 20, cache_read_input_tokens: 100, cache_creation_input_tokens: 30 };
    const nothing = {
      input_tokens: null,
      cache_read_input_tokens: null,
      cache_creation_input_tokens: null,
      output_tokens_details: null,
    };
    const parts = decode(start(counts), end('end_turn', { ...nothing, output_tokens: 5 }), STOP);
    expect(usageIn(parts)).toEqual({ input: 20, cachedInput: 100, cacheWrite: 30, output: 5, reasoning: 0 });
  });

  it('has the text of a block from its start and its deltas, and ignores what it does not know', () => {
    const parts = decode(
      { type: 'ping' },
      start(),
      { type: 'content_block_start', index: 9 },
      { type: 'content_block_delta', index: 9 },
      open(0, { type: 'text', text: 'A' }),
      add(0, 'text_delta', { text: 'B' }),
      add(0, 'text_delta', { text: '' }),
      add(0, 'future_delta', { text: 'C', thinking: 'C' }),
      open(8, { type: 'future_block', text: 'C' }),
      { ...add(0, 'text_delta', { text: 'C' }), type: 'future_event' },
      { ...add(0, 'text_delta', { text: 'D' }), type: 'future_event' },
      add(7, 'thinking_delta', { thinking: 'unknown block' }),
      close(0),
      close(7),
      end('end_turn'),
      STOP,
    );
    expect(parts.slice(0, -1)).toEqual([
      { type: 'text', text: 'A' },
      { type: 'text', text: 'B' },
    ]);
  });

  it('has thoughts with all of their signature, and redacted ones', () => {
    const parts = decode(
      open(0, { type: 'thinking', thinking: '' }),
      add(0, 'thinking_delta', { thinking: 'h' }),
      add(0, 'thinking_delta', { thinking: 'm' }),
      add(0, 'thinking_delta', { thinking: '' }),
      add(0, 'signature_delta', { signature: 's' }),
      add(0, 'signature_delta', { signature: '1' }),
      add(0, 'signature_delta', {}),
      close(0),
      close(0),
      open(1, { type: 'redacted_thinking', data: 'x' }),
      close(1),
      open(2, { type: 'redacted_thinking' }),
      close(2),
      end('end_turn'),
    );
    expect(parts.slice(0, -1)).toEqual([
      { type: 'thinking_delta', text: 'h' },
      { type: 'thinking_delta', text: 'm' },
      { type: 'thinking', block: { type: 'thinking', thinking: 'hm', signature: 's1' } },
      { type: 'thinking', block: { type: 'redacted_thinking', data: 'x' } },
      { type: 'thinking', block: { type: 'redacted_thinking' } },
    ]);
  });

  it('has calls by their deltas, or by their start', () => {
    const parts = decode(
      open(0, { type: 'tool_use', id: 'a', name: 'f', input: {} }),
      add(0, 'input_json_delta', { partial_json: '' }),
      add(0, 'input_json_delta', { partial_json: '{"x"' }),
      add(0, 'input_json_delta', { partial_json: ':1}' }),
      close(0),
      open(1, { type: 'tool_use', id: 'b', name: 'g', input: { y: 2 } }),
      close(1),
      open(2, { type: 'tool_use', id: 'c', name: 'h' }),
      close(2),
      open(3, { type: 'server_tool_use', id: 'd', name: 'i' }),
      add(3, 'input_json_delta', { partial_json: '{}' }),
      close(3),
      end('tool_use'),
    );
    expect(parts.slice(0, -1)).toEqual([
      { type: 'tool_use_delta', index: 0, id: 'a', name: 'f', arguments: '' },
      { type: 'tool_use_delta', index: 0, arguments: '{"x"' },
      { type: 'tool_use_delta', index: 0, arguments: ':1}' },
      { type: 'tool_use', id: 'a', name: 'f', arguments: '{"x":1}' },
      { type: 'tool_use_delta', index: 1, id: 'b', name: 'g', arguments: '' },
      { type: 'tool_use', id: 'b', name: 'g', arguments: '{"y":2}' },
      { type: 'tool_use_delta', index: 2, id: 'c', name: 'h', arguments: '' },
      { type: 'tool_use', id: 'c', name: 'h', arguments: '{}' },
    ]);
  });

  it('may leave out the place of a single block', () => {
    const parts = decode(
      ...[
        open(0, { type: 'tool_use', id: 'a', name: 'f', input: {} }),
        add(0, 'input_json_delta', { partial_json: '{"x":1}' }),
        close(0),
      ].map(({ index: _, ...event }) => event),
      end('tool_use'),
    );
    expect(parts.slice(1, -1)).toEqual([
      { type: 'tool_use_delta', index: 0, arguments: '{"x":1}' },
      { type: 'tool_use', id: 'a', name: 'f', arguments: '{"x":1}' },
    ]);
    const placed = [open(0, { type: 'thinking' }), add(0, 'thinking_delta', { thinking: 'hm' }), close(0)];
    for (const [place, { index: _, ...event }] of placed.entries()) {
      const answer = [...placed.slice(0, place), event, ...placed.slice(place + 1), end('end_turn')];
      expect(decode(...answer)[1]).toMatchObject({ block: { thinking: 'hm' } });
    }
  });

  it.each([
    ['no name', { type: 'tool_use', id: 'a', input: {} }, '{}'],
    ['half of its arguments', { type: 'tool_use', id: 'a', name: 'f' }, '{"a"'],
    ['a list', { type: 'tool_use', id: 'a', name: 'f' }, '[]'],
  ])('is refused for a call with %s, unless the cap cuts it off', (_title, block, partial_json) => {
    const call = [open(0, block), add(0, 'input_json_delta', { partial_json }), close(0)];
    expect(() => decode(...call, end('tool_use'), STOP)).toThrow(
      expect.objectContaining({ kind: 'malformed_answer' }),
    );
    const parts = decode(...call, end('max_tokens'), STOP);
    expect(parts.filter(({ type }) => type === 'tool_use')).toEqual([]);
  });

  it('is refused for a signature and a thought of more than 16 MiB', () => {
    const half = 'x'.repeat(8 * 2 ** 20);
    const answer = (signature: string) =>
      decode(
        open(0, { type: 'thinking' }),
        add(0, 'thinking_delta', { thinking: half }),
        add(0, 'signature_delta', { signature }),
        close(0),
        end('end_turn'),
      );
    expect(answer(half)).toHaveLength(3);
    expect(() => answer(`${half}x`)).toThrow(expect.objectContaining({ kind: 'malformed_answer' }));
  });

  it('fails with the error of an event', () => {
    expect(() =>
      decode(start(), { type: 'error', error: { type: 'overloaded_error', message: 'Busy' } }),
    ).toThrow(expect.objectContaining({ kind: 'overloaded' }));
  });
});
