import type { ModelPart } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { Faults } from '../http/faults.ts';
import { readGeminiError } from './errors.ts';
import { ContentDecoder } from './events.ts';

function decode(...events: readonly object[]): ModelPart[] {
  const decoder = new ContentDecoder(new Faults('vendor', '', readGeminiError));
  const parts: ModelPart[] = [];
  for (const event of events) expect(decoder.event(JSON.stringify(event), parts)).toBe(false);
  decoder.end(parts);
  return parts;
}

const COUNT = { usageMetadata: { promptTokenCount: 3 } };
const say = (...parts: object[]) => ({ candidates: [{ content: { parts } }], modelVersion: 'gemini' });
const end = (finishReason: string) => ({ candidates: [{ finishReason }] });
const read = (...events: object[]) =>
  decode(...events, end('STOP'), COUNT).filter(({ type }) => type !== 'usage' && type !== 'finish');

describe('answer of Gemini', () => {
  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'max_tokens'],
    ['CONTINUATION', 'max_tokens'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['BLOCKLIST', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['SPII', 'content_filter'],
    ['SOMETHING_NEW', 'other'],
  ])('that ends with %s has the reason %s', (word, reason) => {
    expect(decode(say({ text: 'a' }), end(word), COUNT).at(-1)).toEqual({
      type: 'finish',
      reason,
      model: 'gemini',
    });
  });

  it.each([
    'MALFORMED_FUNCTION_CALL',
    'MALFORMED_RESPONSE',
    'UNEXPECTED_TOOL_CALL',
    'TOO_MANY_TOOL_CALLS',
    'MISSING_THOUGHT_SIGNATURE',
  ])('is refused with the code %s', (code) => {
    expect(() => decode(end(code), COUNT)).toThrow(
      expect.objectContaining({ kind: 'malformed_answer', code }),
    );
  });

  it('has the first reason and the first model', () => {
    const other = { ...end('MAX_TOKENS'), modelVersion: 'other' };
    expect(decode(say({ text: 'a' }), end('STOP'), other, COUNT).at(-1)).toEqual({
      type: 'finish',
      reason: 'stop',
      model: 'gemini',
    });
  });

  it.each([
    ['a reason', [say({ text: 'a' }), COUNT]],
    ['usage', [say({ text: 'a' }), end('STOP')]],
  ])('is incomplete without %s', (_what, events) => {
    expect(() => decode(...events)).toThrow('before the answer was complete');
  });

  it.each([
    [
      { promptTokenCount: 10, candidatesTokenCount: 4 },
      { input: 10, cachedInput: 0, output: 4, reasoning: 0 },
    ],
    [
      { promptTokenCount: 10, toolUsePromptTokenCount: 5, cachedContentTokenCount: 6, thoughtsTokenCount: 7 },
      { input: 9, cachedInput: 6, output: 0, reasoning: 7 },
    ],
    [{}, { input: 0, cachedInput: 0, output: 0, reasoning: 0 }],
    [{ cachedContentTokenCount: 6 }, { input: 0, cachedInput: 6, output: 0, reasoning: 0 }],
  ])('has usage in all classes: %j', (usageMetadata, usage) => {
    expect(decode(end('STOP'), { usageMetadata })[0]).toEqual({ type: 'usage', usage });
  });

  it('is text and thoughts, with a block of all thoughts at its end', () => {
    const parts = decode(
      say(
        { text: 'h', thought: true },
        { text: 'm', thought: true },
        { text: '' },
        { text: 'a', thought: false },
      ),
      { candidates: [] },
      { candidates: [{ content: {} }] },
      end('STOP'),
      COUNT,
    );
    expect(parts.filter(({ type }) => type !== 'usage')).toEqual([
      { type: 'thinking_delta', text: 'h' },
      { type: 'thinking_delta', text: 'm' },
      { type: 'text', text: 'a' },
      { type: 'thinking', block: { type: 'thought', text: 'hm' } },
      { type: 'finish', reason: 'stop', model: 'gemini' },
    ]);
  });

  it('has signatures after their text, and before their call', () => {
    const functionCall = { id: 'c', name: 'f', args: { x: 1 } };
    expect(
      read(say({ text: 'a', thoughtSignature: 's1' }, { functionCall, thoughtSignature: 's2' })),
    ).toEqual([
      { type: 'text', text: 'a' },
      { type: 'thinking', block: { type: 'thought_signature', signature: 's1' } },
      { type: 'thinking', block: { type: 'thought_signature', signature: 's2', toolUseId: 'c' } },
      { type: 'tool_use_delta', index: 0, id: 'c', name: 'f', arguments: '{"x":1}' },
      { type: 'tool_use', id: 'c', name: 'f', arguments: '{"x":1}' },
    ]);
  });

  it('has calls with an index each, and without arguments', () => {
    const calls = ['f', 'g'].map((name) => ({ functionCall: { id: name, name } }));
    expect(read(say(...calls)).filter(({ type }) => type === 'tool_use_delta')).toEqual([
      { type: 'tool_use_delta', index: 0, id: 'f', name: 'f', arguments: '{}' },
      { type: 'tool_use_delta', index: 1, id: 'g', name: 'g', arguments: '{}' },
    ]);
    expect(() => read(say({ functionCall: { id: 'c', name: '' } }))).toThrow('a tool call without a name');
  });

  it('ends because of its calls, unless another reason ends it', () => {
    const calls = say({ functionCall: { id: 'c', name: 'f' } });
    expect(decode(calls, end('STOP'), COUNT).at(-1)).toMatchObject({ reason: 'tool_use' });
    expect(decode(calls, end('MAX_TOKENS'), COUNT).at(-1)).toMatchObject({ reason: 'max_tokens' });
  });

  it('holds at most 16 Mi characters of thoughts', () => {
    const half = say({ text: 'x'.repeat(8 * 2 ** 20), thought: true });
    expect(decode(half, half, end('STOP'), COUNT)).toHaveLength(5);
    expect(() => decode(half, half, say({ text: 'x', thought: true }))).toThrow(
      expect.objectContaining({ kind: 'malformed_answer' }),
    );
  });

  it('fails for a refused prompt, and with the error of an event', () => {
    expect(() => decode({ promptFeedback: { blockReason: 'SAFETY' } })).toThrow(
      expect.objectContaining({ kind: 'content_blocked', message: 'refused the prompt: SAFETY' }),
    );
    expect(() => decode({ error: { status: 'UNAVAILABLE', message: 'Busy' } })).toThrow(
      expect.objectContaining({ kind: 'overloaded' }),
    );
  });
});
