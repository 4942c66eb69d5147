import type { ModelPart } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { Faults } from '../http/faults.ts';
import { readOpenAIError } from './errors.ts';
import { CompletionDecoder } from './events.ts';

/** Decodes events, or texts of events; without `[DONE]` the response ends after them. */
function decode(events: readonly (object | string)[], usage = true): ModelPart[] {
  const faults = new Faults('vendor', '', readOpenAIError);
  const decoder = new CompletionDecoder({ faults, usage });
  const parts: ModelPart[] = [];
  let isComplete = false;
  for (const event of events) {
    isComplete = decoder.event(typeof event === 'string' ? event : JSON.stringify(event), parts);
  }
  if (!isComplete) decoder.end(parts);
  return parts;
}

const say = (delta: object | null, finish_reason: string | null = null) => ({
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
});
const call = (fields: object) => say({ tool_calls: [fields] });
const stop = (reason = 'stop') => say({}, reason);
const count = { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } };
const DONE = '[DONE]';

const textIn = (parts: readonly ModelPart[]) =>
  parts.flatMap((part) =>
    part.type === 'text' || part.type === 'thinking_delta' ? [[part.type, part.text]] : [],
  );
const callsIn = (parts: readonly ModelPart[]) => parts.filter(({ type }) => type === 'tool_use');
const kindOf = (error: string) => expect.objectContaining({ kind: error });

describe('answer of chat completions', () => {
  it.each([
    ['stop', 'stop'],
    ['eos', 'stop'],
    ['length', 'max_tokens'],
    ['tool_calls', 'tool_use'],
    ['function_call', 'tool_use'],
    ['content_filter', 'content_filter'],
    ['something_new', 'other'],
  ])('that ends with %s has the reason %s', (word, reason) => {
    expect(decode([say({ content: 'a' }), stop(word), count, DONE]).at(-1)).toEqual({
      type: 'finish',
      reason,
      model: 'm',
    });
  });

  it('has the first reason, the first model and the last usage', () => {
    const more = { ...count, usage: { prompt_tokens: 3, completion_tokens: 9 } };
    const parts = decode([
      say({ content: 'a' }),
      stop('length'),
      { ...stop('stop'), model: 'n' },
      count,
      more,
      DONE,
    ]);
    expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'max_tokens', model: 'm' });
    expect(parts.at(-2)).toMatchObject({ usage: { output: 9 } });
  });

  it('has no model if no event names one', () => {
    const answer = [{ choices: [{ delta: { content: 'a' }, finish_reason: 'stop' }] }, DONE];
    expect(decode(answer)).toEqual([
      { type: 'text', text: 'a' },
      { type: 'finish', reason: 'stop' },
    ]);
  });

  it('is text, refusals and reasoning in the order of the events', () => {
    const parts = decode([
      say({ role: 'assistant', content: '' }),
      say({ reasoning_content: 'hm' }),
      say({ content: 'a', reasoning: null, refusal: null, tool_calls: null }),
      say({ refusal: 'No.' }),
      say({ content: 'b', refusal: 'c' }),
      say(null),
      stop(),
      DONE,
    ]);
    expect(textIn(parts)).toEqual([
      ['thinking_delta', 'hm'],
      ['text', 'a'],
      ['text', 'No.'],
      ['text', 'b'],
      ['text', 'c'],
    ]);
  });

  it.each([
    ['reasoning_content', { reasoning_content: 'hm' }, { type: 'reasoning_content', text: 'hm' }],
    ['reasoning', { reasoning: 'hm' }, { type: 'reasoning_content', text: 'hm', field: 'reasoning' }],
    [
      'content',
      { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] },
      { type: 'reasoning_content', text: 'hm', field: 'content' },
    ],
    [
      'reasoning_content before reasoning',
      { reasoning_content: 'hm', reasoning: 'hm' },
      { type: 'reasoning_content', text: 'hm' },
    ],
  ])('keeps the field of its reasoning: %s', (_field, delta, block) => {
    const parts = decode([say(delta), say({ content: 'a' }), stop(), DONE]);
    expect(parts.filter(({ type }) => type === 'thinking')).toEqual([{ type: 'thinking', block }]);
    expect(textIn(parts)[0]).toEqual(['thinking_delta', 'hm']);
  });

  it('has the thoughts and the texts of lists of content', () => {
    const parts = decode([
      say({ content: [{ type: 'thinking', thinking: 'hm' }] }),
      say({
        content: [
          { type: 'thinking', thinking: 'm' },
          { type: 'text', text: 'a' },
        ],
      }),
      stop(),
      DONE,
    ]);
    expect(textIn(parts)).toEqual([
      ['thinking_delta', 'hm'],
      ['thinking_delta', 'm'],
      ['text', 'a'],
    ]);
  });

  it('is complete at its end with a reason and usage, or with a reason where no usage was requested', () => {
    expect(decode([say({ content: 'a' }), stop('length'), count]).at(-1)).toMatchObject({
      reason: 'max_tokens',
    });
    expect(() => decode([say({ content: 'a' }), stop()])).toThrow('before the answer was complete');
    expect(decode([say({ content: 'a' }), stop()], false).at(-1)).toMatchObject({ reason: 'stop' });
    expect(() => decode([say({ content: 'a' })], false)).toThrow('before the answer was complete');
  });

  it('is complete without a reason after usage in an event of its own, and not after usage beside text', () => {
    expect(decode([say({ content: 'a' }), count]).at(-1)).toMatchObject({ reason: 'stop' });
    expect(() => decode([{ ...say({ content: 'a' }), usage: count.usage }])).toThrow('before the answer');
    expect(() => decode([count])).toThrow('before the answer');
  });

  it('needs content or a call before a terminator without a reason', () => {
    const whole = { index: 0, id: 'c', function: { name: 'f', arguments: '{}' } };
    expect(decode([say({ reasoning_content: 'hm' }), DONE]).at(-1)).toMatchObject({ reason: 'stop' });
    expect(decode([call(whole), DONE]).at(-1)).toMatchObject({ reason: 'tool_use' });
    expect(() => decode([say({}), DONE])).toThrow('without a finish reason');
  });

  it.each([
    ['text that is no string', say({ refusal: 7 })],
    ['reasoning that is no string', say({ reasoning: 7 })],
    ['content that is neither text nor a list', say({ content: 7 })],
    ['too many calls', call({ index: 1001, id: 'c', function: { name: 'f', arguments: '{}' } })],
  ])('is refused for %s', (_title, event) => {
    expect(() => decode([event, stop(), DONE])).toThrow(kindOf('malformed_answer'));
  });

  it('fails with the error of an event, unless the error is null', () => {
    expect(() => decode([say({ content: 'a' }), { error: { code: 'slow_down' } }])).toThrow(
      kindOf('overloaded'),
    );
    expect(() => decode([{ error: { message: 'over the maximum context length' } }])).toThrow(
      kindOf('context_length'),
    );
    const parts = decode([{ ...say({ content: 'a' }), error: null }, stop(), DONE]);
    expect(textIn(parts)).toEqual([['text', 'a']]);
  });
});

describe('text events of chat completions', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2 };
  const counted = { type: 'usage', usage: expect.objectContaining({ input: 3, output: 2 }) };
  const whole = { index: 0, id: 'c', function: { name: 'f', arguments: '{}' } };

  it.each<[string, object, object, object, object[]]>([
    ['a refusal', { refusal: 'No.' }, {}, {}, [{ type: 'text', text: 'No.' }]],
    ['reasoning', { reasoning: 'hm' }, {}, {}, [{ type: 'thinking_delta', text: 'hm' }]],
    [
      'reasoning of another field',
      { reasoning_content: 'hm' },
      {},
      {},
      [{ type: 'thinking_delta', text: 'hm' }],
    ],
    ['a call', { tool_calls: [whole] }, {}, {}, [{ type: 'tool_use_delta', index: 0, arguments: '{}' }]],
    ['usage', {}, {}, { usage }, [counted]],
    ['usage of the choice', {}, { usage }, {}, [counted]],
    ['usage of the vendor', {}, {}, { x_groq: { usage } }, [counted]],
    ['nothing more', {}, {}, {}, []],
  ])('that are alike have all of their parts, with %s', (_title, delta, choice, more, parts) => {
    const decoder = new CompletionDecoder({ faults: new Faults('vendor', '', readOpenAIError), usage: true });
    const event = (content: string) =>
      JSON.stringify({ choices: [{ delta: { content, ...delta }, ...choice }], ...more });
    decoder.event(event('a'), []);
    const seen: ModelPart[] = [];
    expect(decoder.event(event('b'), seen)).toBe(false);
    expect(seen).toEqual([{ type: 'text', text: 'b' }, ...parts]);
  });

  it('hold at most 16 Mi characters of one thought and of one call', () => {
    const half = 'x'.repeat(8 * 2 ** 20);
    const thought = say({ reasoning: half });
    const piece = call({ index: 0, id: 'c', function: { name: 'f', arguments: half } });
    for (const [event, extra] of [
      [thought, say({ reasoning: 'x' })],
      [piece, call({ index: 0, function: { arguments: 'x' } })],
    ] as const) {
      expect(() => decode([event, event, extra])).toThrow(kindOf('malformed_answer'));
      expect(() => decode([event, event])).toThrow(kindOf('failed'));
    }
  });

  it('have at most 1,001 calls', () => {
    const last = call({ index: 1000, id: 'c', function: { name: 'f', arguments: '{}' } });
    expect(decode([last, stop(), DONE]).at(-1)).toMatchObject({ reason: 'tool_use' });
  });
});

describe('tool calls of chat completions', () => {
  const whole = { id: 'c', function: { name: 'f', arguments: '{"a":1}' } };

  it('are joined by index, by id, and to the last one without either', () => {
    const parts = decode([
      call({ index: 1, ...whole }),
      call({ index: 0, id: 'd', function: { name: 'g' } }),
      call({ index: 0, function: { arguments: '{}' } }),
      stop('tool_calls'),
      DONE,
    ]);
    expect(callsIn(parts)).toEqual([
      { type: 'tool_use', id: 'd', name: 'g', arguments: '{}' },
      { type: 'tool_use', id: 'c', name: 'f', arguments: '{"a":1}' },
    ]);
    const byId = decode([
      call({ id: 'a', function: { name: 'f', arguments: '{"x"' } }),
      call({ id: 'b', function: { name: 'g', arguments: '{"y"' } }),
      call({ function: { arguments: ':2}' } }),
      call({ id: 'a', function: { arguments: ':1}' } }),
      stop(),
      DONE,
    ]);
    expect(callsIn(byId)).toEqual([
      { type: 'tool_use', id: 'a', name: 'f', arguments: '{"x":1}' },
      { type: 'tool_use', id: 'b', name: 'g', arguments: '{"y":2}' },
    ]);
    expect(byId.at(-1)).toMatchObject({ reason: 'tool_use' });
  });

  it('report their progress: the name first, then every piece', () => {
    const parts = decode([
      call({ index: 0, id: 'c', function: { name: 'f' } }),
      call({ index: 0, function: { arguments: '' } }),
      call({ index: 0, function: { arguments: '{}' } }),
      call({ index: 1, function: { name: 'g', arguments: null } }),
      call({ index: 1, id: 'late', function: null }),
      stop('tool_calls'),
      DONE,
    ]);
    expect(parts.filter(({ type }) => type.startsWith('tool_use'))).toEqual([
      { type: 'tool_use_delta', index: 0, id: 'c', name: 'f', arguments: '' },
      { type: 'tool_use_delta', index: 0, arguments: '{}' },
      { type: 'tool_use_delta', index: 1, id: 'call_1', name: 'g', arguments: '' },
      { type: 'tool_use', id: 'c', name: 'f', arguments: '{}' },
      { type: 'tool_use_delta', index: 1, arguments: '{}' },
      { type: 'tool_use', id: 'call_1', name: 'g', arguments: '{}' },
    ]);
  });

  it('have empty arguments for blank ones, and the last whole object', () => {
    const parts = decode([
      call({ index: 0, id: 'c', function: { name: 'f', arguments: ' ' } }),
      call({ index: 1, id: 'd', function: { name: 'g', arguments: { a: 1 } } }),
      call({ index: 1, function: { arguments: { a: 2 } } }),
      stop(),
      DONE,
    ]);
    expect(callsIn(parts)).toMatchObject([{ arguments: '{}' }, { arguments: '{"a":2}' }]);
  });

  it.each([
    ['no name', { id: 'c', function: { arguments: '{}' } }],
    ['half of its arguments', { id: 'c', function: { name: 'f', arguments: '{"a"' } }],
    ['a list', { id: 'c', function: { name: 'f', arguments: '[]' } }],
  ])('are refused with %s, except for the last one of an answer that the cap cuts off', (_title, cut) => {
    const answer = (reason: string, ...calls: object[]) =>
      decode([...calls.map((fields, index) => call({ index, ...fields })), stop(reason), DONE]);
    expect(() => answer('tool_calls', whole, cut)).toThrow(kindOf('malformed_answer'));
    expect(callsIn(answer('length', whole, cut))).toMatchObject([{ id: 'c', name: 'f' }]);
    expect(answer('length', whole, cut).at(-1)).toMatchObject({ reason: 'max_tokens' });
    expect(() => answer('length', cut, whole)).toThrow(kindOf('malformed_answer'));
  });
});
