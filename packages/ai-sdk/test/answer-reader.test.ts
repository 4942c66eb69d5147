import type { ModelPart } from '@questline/core/ports';
import { describe, expect, test } from 'vitest';
import { AnswerReader, type StreamPart } from '../src/answer.ts';
import { finish } from './scripted.ts';

const META = { vendor: { signature: 's' } };
const LATE = { vendor: { signature: 't' } };

function read(...stream: readonly StreamPart[]): ModelPart[] {
  const reader = new AnswerReader('test.chat');
  const parts: ModelPart[] = [];
  for (const part of [...stream, finish]) reader.read(part, parts);
  reader.end();
  return parts;
}

const start = (providerMetadata?: typeof META): StreamPart => ({
  type: 'text-start',
  id: '0',
  ...(providerMetadata && { providerMetadata }),
});
const say = (delta: string, providerMetadata?: typeof META): StreamPart => ({
  type: 'text-delta',
  id: '0',
  delta,
  ...(providerMetadata && { providerMetadata }),
});
const end = (providerMetadata?: typeof META): StreamPart => ({
  type: 'text-end',
  id: '0',
  ...(providerMetadata && { providerMetadata }),
});
const call = (input: string, more: object = {}): StreamPart => ({
  type: 'tool-call',
  toolCallId: 'c',
  toolName: 'f',
  input,
  ...more,
});
const think = (delta: string): StreamPart => ({ type: 'reasoning-delta', id: 'r', delta });

/** The layout that the answer keeps. */
const layoutOf = (...stream: readonly StreamPart[]): unknown =>
  read(...stream).flatMap((part) =>
    part.type === 'thinking' && part.block.type === 'redacted_thinking' ? [part.block.layout] : [],
  )[0];

describe('layout of an answer', () => {
  const signed = (length: number, providerMetadata: object) => ({ type: 'text', length, providerMetadata });

  test.each<[string, readonly StreamPart[], unknown]>([
    ['none without metadata', [start(), say('a'), end()], undefined],
    ['the metadata of the beginning', [start(META), say('ab'), end()], [signed(2, META)]],
    ['the metadata of a piece', [start(META), say('a', LATE), say('b'), end()], [signed(2, LATE)]],
    ['the metadata of the end', [start(META), say('a'), say('b'), end(LATE)], [signed(2, LATE)]],
    [
      'two texts in a row',
      [start(META), say('a'), end(), start(LATE), say('bc'), end()],
      [signed(1, META), signed(2, LATE)],
    ],
    ['text without a beginning', [say('ab'), end(META)], [signed(2, META)]],
    [
      'no metadata of the text before',
      [start(META), say('a'), end(), think('t'), { type: 'reasoning-end', id: 'r' }, say('b'), end()],
      [signed(1, META), { type: 'thinking' }, { type: 'text', length: 1 }],
    ],
    [
      'no empty text',
      [start(META), say(''), end(), call('{}', { providerMetadata: LATE })],
      [{ type: 'tool_use', id: 'c', providerMetadata: LATE }],
    ],
    [
      'an unsigned text before a signed call',
      [start(), say('a'), end(), call('{}', { providerMetadata: LATE })],
      [
        { type: 'text', length: 1 },
        { type: 'tool_use', id: 'c', providerMetadata: LATE },
      ],
    ],
  ])('has %s', (_title, stream, layout) => {
    expect(layoutOf(...stream)).toEqual(layout);
  });
});

describe('parts of an answer', () => {
  test('end with the finish part', () => {
    const reader = new AnswerReader('test.chat');
    const parts: ModelPart[] = [];
    expect(() => reader.end()).toThrow('the stream ended before the answer was complete');
    for (const part of [say('a'), finish, say('b'), finish]) reader.read(part, parts);
    expect(parts.map(({ type }) => type)).toEqual(['text', 'usage', 'finish']);
  });

  test('name the model where the stream does', () => {
    const named = (modelId: string | undefined) =>
      read({ type: 'response-metadata', id: 'r', ...(modelId !== undefined && { modelId }) }).at(-1);
    expect(named('m-1')).toEqual({ type: 'finish', reason: 'stop', model: 'm-1' });
    for (const none of ['', undefined]) expect(named(none)).not.toHaveProperty('model');
  });

  test('have no tool that the vendor runs, and no empty piece of a call', () => {
    const parts = read(
      { type: 'tool-input-start', id: 'v', toolName: 'search', providerExecuted: true },
      { type: 'tool-input-delta', id: 'v', delta: '{}' },
      { type: 'tool-input-start', id: 'c', toolName: 'f' },
      { type: 'tool-input-delta', id: 'c', delta: '' },
      { type: 'tool-input-delta', id: 'c', delta: '{}' },
      call(' \n'),
    );
    expect(parts.slice(0, -2)).toEqual([
      { type: 'tool_use_delta', index: 0, id: 'c', name: 'f', arguments: '' },
      { type: 'tool_use_delta', index: 0, arguments: '{}' },
      { type: 'tool_use', id: 'c', name: 'f', arguments: '{}' },
    ]);
    expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'tool_use' });
  });

  test('join reasoning without a beginning', () => {
    const parts = read(think('a'), think('b'));
    expect(parts.flatMap((part) => (part.type === 'thinking' ? [part.block.thinking] : []))).toEqual(['ab']);
  });

  test.each(['null', '5', 'true', '"x"', '[]', '{'])('fail for a call with the arguments %s', (input) => {
    expect(() => read(call(input))).toThrow('a tool call with arguments that are no JSON object');
  });

  test('keep the reason of an answer with a call that was cut', () => {
    const reader = new AnswerReader('test.chat');
    const parts: ModelPart[] = [];
    reader.read(call('{}'), parts);
    reader.read({ ...finish, finishReason: { unified: 'length', raw: undefined } }, parts);
    expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'max_tokens' });
  });

  test('fail with the name of a failed answer of Gemini', () => {
    const reader = new AnswerReader('google.generative-ai');
    const broken = { ...finish, finishReason: { unified: 'other', raw: 'MALFORMED_FUNCTION_CALL' } } as const;
    expect(() => reader.read(broken, [])).toThrow(
      expect.objectContaining({
        kind: 'malformed_answer',
        code: 'MALFORMED_FUNCTION_CALL',
        message: 'the model ended with MALFORMED_FUNCTION_CALL',
      }),
    );
  });
});
