import type { ModelPart } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { Faults } from '../http/faults.ts';
import { readOpenAIError } from '../openai/errors.ts';
import { ResponseDecoder } from './events.ts';

function decode(...events: readonly (object | string)[]): ModelPart[] {
  const decoder = new ResponseDecoder('vendor', new Faults('vendor', '', readOpenAIError));
  const parts: ModelPart[] = [];
  let isComplete = false;
  for (const event of events) {
    isComplete ||= decoder.event(typeof event === 'string' ? event : JSON.stringify(event), parts);
  }
  if (!isComplete) decoder.end();
  return parts;
}

const done = (item: object, output_index = 0) => ({ type: 'response.output_item.done', output_index, item });
const added = (item: object, output_index = 0) => ({
  type: 'response.output_item.added',
  output_index,
  item,
});
const completed = (response: object = {}) => ({ type: 'response.completed', response });
const incomplete = (reason?: string) => ({
  type: 'response.incomplete',
  response: reason === undefined ? {} : { incomplete_details: { reason } },
});
const call = (fields: object = {}) => ({
  type: 'function_call',
  call_id: 'c',
  name: 'f',
  arguments: '{}',
  ...fields,
});
const piece = (delta: unknown, output_index = 0) => ({
  type: 'response.function_call_arguments.delta',
  output_index,
  delta,
});
const said = (delta: string, output_index = 0) => ({
  type: 'response.output_text.delta',
  output_index,
  delta,
});
const message = (...content: object[]) => ({ type: 'message', content });

describe('answer of the Responses API', () => {
  it.each([
    ['max_output_tokens', 'max_tokens'],
    ['content_filter', 'content_filter'],
    ['something_new', 'other'],
    [undefined, 'other'],
  ])('that is incomplete because of %s has the reason %s', (word, reason) => {
    expect(decode(said('a'), incomplete(word)).at(-1)).toEqual({ type: 'finish', reason });
    expect(decode(done(call()), incomplete(word)).at(-1)).toMatchObject({ reason });
  });

  it('has the model of its end, or else of its begin', () => {
    const created = { type: 'response.created', response: { model: 'm' } };
    expect(decode(created, completed()).at(-1)).toMatchObject({ model: 'm' });
    expect(decode(created, completed({ model: 'n' })).at(-1)).toMatchObject({ model: 'n' });
    expect(decode({ type: 'response.created' }, completed()).at(-1)).toEqual({
      type: 'finish',
      reason: 'stop',
    });
  });

  it('is incomplete without its final event, also after a terminator', () => {
    expect(() => decode(said('a'))).toThrow('before the answer was complete');
    expect(() => decode(said('a'), '[DONE]')).toThrow('before the answer was complete');
    expect(decode(said('a'), completed(), '[DONE]')).toHaveLength(2);
  });

  it('has the text of a whole message only if no delta of it came', () => {
    const texts = [{ type: 'output_text', text: 'a' }, { type: 'refusal', refusal: 'No.' }, { type: 'new' }];
    expect(decode(said('a', 1), done(message(...texts), 1), completed()).slice(0, -1)).toEqual([
      { type: 'text', text: 'a' },
    ]);
    expect(decode(said('a', 0), done(message(...texts), 1), completed())).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'a' },
      { type: 'text', text: 'No.' },
      { type: 'finish', reason: 'content_filter' },
    ]);
    for (const content of ['a', 7])
      expect(decode(done({ type: 'message', content }), completed())).toHaveLength(1);
  });

  it('has a refusal as its reason, and a call before that', () => {
    const refusal = { type: 'response.refusal.delta', output_index: 0, delta: 'No.' };
    expect(decode(refusal, completed()).at(-1)).toMatchObject({ reason: 'content_filter' });
    expect(decode(refusal, said('a'), completed()).at(-1)).toMatchObject({ reason: 'content_filter' });
    expect(decode(refusal, done(call(), 1), completed()).at(-1)).toMatchObject({ reason: 'tool_use' });
    expect(decode(done(message({ type: 'output_text', text: 'a' })), completed()).at(-1)).toMatchObject({
      reason: 'stop',
    });
  });

  it('has a reasoning item as a block of its vendor', () => {
    const item = { type: 'reasoning', summary: [{ text: 'a' }, { text: 'b' }], content: [{ text: 'c' }] };
    const silent = { type: 'reasoning', encrypted_content: 'x', summary: [{ text: '' }, null] };
    expect(decode(done(item), done(silent, 1), completed()).slice(0, -1)).toEqual([
      {
        type: 'thinking',
        block: { type: 'responses_reasoning', provider: 'vendor', thinking: 'a\n\nb\n\nc', item },
      },
      { type: 'thinking', block: { type: 'responses_reasoning', provider: 'vendor', item: silent } },
    ]);
  });

  it('has items of its end only if no item came before', () => {
    const output = [call()];
    expect(decode(completed({ output })).filter(({ type }) => type === 'tool_use')).toHaveLength(1);
    expect(
      decode(done(call()), completed({ output })).filter(({ type }) => type === 'tool_use'),
    ).toHaveLength(1);
    expect(decode(completed({ output: null }))).toHaveLength(1);
  });

  it('has the calls of an answer by their place, with every piece', () => {
    const parts = decode(
      added({ type: 'message' }, 0),
      added(call({ call_id: 'a', arguments: '' }), 1),
      added(call({ call_id: 'b', arguments: '' }), 2),
      piece('{"x":1}', 2),
      piece('{"y"', 1),
      piece('', 1),
      piece(7, 1),
      piece('lost', 5),
      piece(':2}', 1),
      done(call({ call_id: 'a', arguments: '{"y":2}' }), 1),
      done(call({ call_id: 'b', arguments: '{"x":1}' }), 2),
      done(call({ call_id: 'd', name: 'g', arguments: ' ' }), 3),
      completed(),
    );
    expect(parts).toEqual([
      { type: 'tool_use_delta', index: 0, id: 'a', name: 'f', arguments: '' },
      { type: 'tool_use_delta', index: 1, id: 'b', name: 'f', arguments: '' },
      { type: 'tool_use_delta', index: 1, arguments: '{"x":1}' },
      { type: 'tool_use_delta', index: 0, arguments: '{"y"' },
      { type: 'tool_use_delta', index: 0, arguments: ':2}' },
      { type: 'tool_use', id: 'a', name: 'f', arguments: '{"y":2}' },
      { type: 'tool_use', id: 'b', name: 'f', arguments: '{"x":1}' },
      { type: 'tool_use_delta', index: 2, id: 'd', name: 'g', arguments: '' },
      { type: 'tool_use_delta', index: 2, arguments: '{}' },
      { type: 'tool_use', id: 'd', name: 'g', arguments: '{}' },
      { type: 'finish', reason: 'tool_use' },
    ]);
  });

  it.each([
    ['no name', { name: '' }],
    ['no id', { call_id: undefined }],
    ['half of its arguments', { arguments: '{"a"' }],
  ])('is refused for a call with %s, unless the cap cuts it off', (_title, fields) => {
    expect(() => decode(done(call(fields)), completed())).toThrow(
      expect.objectContaining({ kind: 'malformed_answer' }),
    );
    expect(() => decode(done(call(fields)), incomplete('content_filter'))).toThrow(
      'a tool call without a name',
    );
    const parts = decode(done(call(fields)), incomplete('max_output_tokens'));
    expect(parts.filter(({ type }) => type === 'tool_use')).toEqual([]);
  });

  it('has a blank line between the parts of a summary', () => {
    const part = (summary_index?: number) => ({
      type: 'response.reasoning_summary_part.added',
      summary_index,
    });
    const thought = { type: 'response.reasoning_summary_text.delta', delta: 'a' };
    expect(decode(part(), thought, part(0), thought, part(1), thought, completed()).slice(0, -1)).toEqual([
      { type: 'thinking_delta', text: 'a' },
      { type: 'thinking_delta', text: 'a' },
      { type: 'thinking_delta', text: '\n\n' },
      { type: 'thinking_delta', text: 'a' },
    ]);
  });

  it.each([
    ['text', { type: 'response.output_text.delta', delta: 7 }, 'sent text that'],
    ['reasoning', { type: 'response.reasoning_text.delta', delta: null }, 'sent reasoning that'],
  ])('is refused for %s that is no string', (_kind, event, words) => {
    expect(() => decode(event)).toThrow(
      expect.objectContaining({ kind: 'malformed_answer', message: expect.stringContaining(words) }),
    );
  });

  it.each([
    [
      { type: 'error', message: 'Slow', code: 'slow_down', param: 'model' },
      { kind: 'overloaded', param: 'model', message: 'vendor: broke off: Slow' },
    ],
    [
      { type: 'error', error: { message: 'Slow', code: 'slow_down' } },
      { kind: 'overloaded', code: 'slow_down' },
    ],
    [{ type: 'future', error: { code: 'slow_down' } }, { kind: 'overloaded' }],
    [{ type: 'response.failed', response: { error: { code: 'slow_down' } } }, { kind: 'overloaded' }],
    [{ type: 'response.failed' }, { message: 'vendor: broke off: the response failed' }],
  ])('fails with the error of an event: %j', (event, expected) => {
    expect(() => decode(said('a'), event)).toThrow(expect.objectContaining(expected));
  });

  it('may leave out the places of a single item', () => {
    const [text, whole] = [said('a'), done(message({ type: 'output_text', text: 'a' }))].map(
      ({ output_index: _, ...event }) => event,
    );
    expect(decode(text ?? {}, whole ?? {}, completed())).toHaveLength(2);
    const [begun, part, rest, ended] = [
      added(call({ arguments: '' })),
      piece('{"a"'),
      piece(':1}'),
      done(call({ arguments: '{"a":1}' })),
    ].map(({ output_index: _, ...event }) => event);
    expect(decode(begun ?? {}, part ?? {}, rest ?? {}, ended ?? {}, completed()).slice(0, -1)).toEqual([
      { type: 'tool_use_delta', index: 0, id: 'c', name: 'f', arguments: '' },
      { type: 'tool_use_delta', index: 0, arguments: '{"a"' },
      { type: 'tool_use_delta', index: 0, arguments: ':1}' },
      { type: 'tool_use', id: 'c', name: 'f', arguments: '{"a":1}' },
    ]);
  });

  it('has the usage of its end and of a failure, unless that is null', () => {
    expect(decode(completed({ usage: null }))).toHaveLength(1);
    expect(decode(completed({ usage: { input_tokens: 5 } }))[0]).toMatchObject({ usage: { input: 5 } });
    const parts: ModelPart[] = [];
    const decoder = new ResponseDecoder('vendor', new Faults('vendor', '', readOpenAIError));
    const failed = { type: 'response.failed', response: { usage: { input_tokens: 5 } } };
    expect(() => decoder.event(JSON.stringify(failed), parts)).toThrow('the response failed');
    expect(parts).toMatchObject([{ type: 'usage', usage: { input: 5 } }]);
  });

  it('holds at most 16 Mi characters of one call', () => {
    const half = 'x'.repeat(8 * 2 ** 20);
    const kind = expect.objectContaining({ kind: 'malformed_answer' });
    const begun = added(call({ arguments: '' }));
    expect(() => decode(begun, piece(half), piece(half), piece('x'))).toThrow(kind);
    expect(() => decode(begun, piece(half), piece(half))).toThrow('before the answer was complete');
    expect(() => decode(done(call({ arguments: JSON.stringify({ a: half + half }) })))).toThrow(kind);
  });

  it('goes on after an unknown event without an error', () => {
    expect(decode({ type: 'future', error: null }, { type: 'future' }, completed())).toHaveLength(1);
  });
});
