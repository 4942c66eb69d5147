import type { Vendor } from './errors.ts';

/** A streamed answer that follows the protocol's documented events. */
export interface AnswerRow {
  readonly vendor: Extract<Vendor, 'compatible' | 'anthropic'>;
  readonly name: string;
  readonly events: readonly (object | string)[];
  /** The expected text, calls and finish reason, or the kind of failure. */
  readonly expected: string;
}

type Row = readonly [name: string, expected: string, ...events: readonly (object | string)[]];

const text = (content: string) => ({ choices: [{ index: 0, delta: { content } }] });
const call = (index: number, args: string) => ({
  choices: [
    {
      index: 0,
      delta: {
        tool_calls: [
          { index, id: `c${index}`, type: 'function', function: { name: 'look', arguments: args } },
        ],
      },
    },
  ],
});
const more = (index: number, args: string) => ({
  choices: [{ index: 0, delta: { tool_calls: [{ index, function: { arguments: args } }] } }],
});
const end = (finish_reason: string) => ({ choices: [{ index: 0, delta: {}, finish_reason }] });
const count = { choices: [], usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } };
const done = '[DONE]';

/** https://platform.openai.com/docs/api-reference/chat-streaming: the format documented there, written from knowledge of it. */
const COMPATIBLE: readonly Row[] = [
  ['text', 'Hello. |stop', text('Hel'), text('lo. '), end('stop'), count, done],
  ['text cut by its cap', 'Hel|max_tokens', text('Hel'), end('length'), count, done],
  ['text stopped by a filter', 'Hel|content_filter', text('Hel'), end('content_filter'), count, done],
  ['an unknown reason', 'Hel|other', text('Hel'), end('whatever'), count, done],
  ['a call', 'look({"a":1})|tool_use', call(0, '{"a":'), more(0, '1}'), end('tool_calls'), count, done],
  ['text and a call', 'Hi look({})|tool_use', text('Hi '), call(0, '{}'), end('tool_calls'), count, done],
  [
    'two calls',
    'look({"a":1})look({"b":2})|tool_use',
    call(0, '{"a":1}'),
    call(1, '{"b":2}'),
    end('tool_calls'),
    count,
    done,
  ],
  ['a call that ends with stop', 'look({})|tool_use', call(0, '{}'), end('stop'), count, done],
  ['a call that is no JSON', 'malformed_answer', call(0, '{"a":'), end('tool_calls'), count, done],
  ['a call that is a list', 'malformed_answer', call(0, '[1]'), end('tool_calls'), count, done],
  [
    'a rate limit in the stream',
    'overloaded',
    { error: { message: 'Slow down.', type: 'tokens', code: 'rate_limit_exceeded', param: null } },
  ],
  [
    'a server error in the stream',
    'failed',
    { error: { message: 'Oh.', type: 'server_error', code: null, param: null } },
  ],
  ['nothing', 'failed'],
  ['a terminator alone', 'failed', done],
  ['text and no end', 'failed', text('Hel')],
  ['text and a terminator without a reason', 'Hel|stop', text('Hel'), count, done],
];

const start = {
  type: 'message_start',
  message: {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    usage: { input_tokens: 5, output_tokens: 1 },
  },
};
const open = (index: number, content_block: object) => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (index: number, of: object) => ({ type: 'content_block_delta', index, delta: of });
const close = (index: number) => ({ type: 'content_block_stop', index });
const over = (stop_reason: string) => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  usage: { output_tokens: 7 },
});
const stop = { type: 'message_stop' };
const words = (index: number, said: string) => [
  open(index, { type: 'text', text: '' }),
  delta(index, { type: 'text_delta', text: said }),
  close(index),
];
const use = (index: number, args: string) => [
  open(index, { type: 'tool_use', id: `t${index}`, name: 'look', input: {} }),
  delta(index, { type: 'input_json_delta', partial_json: args }),
  close(index),
];
const failure = (type: string) => ({ type: 'error', error: { type, message: 'Oh.' } });

/** https://docs.claude.com/en/docs/build-with-claude/streaming: the format documented there, written from knowledge of it. */
const ANTHROPIC: readonly Row[] = [
  ['text', 'Hello.|stop', start, ...words(0, 'Hello.'), over('end_turn'), stop],
  ['text ended by a stop sequence', 'Hello|stop', start, ...words(0, 'Hello'), over('stop_sequence'), stop],
  ['text cut by its cap', 'Hel|max_tokens', start, ...words(0, 'Hel'), over('max_tokens'), stop],
  ['a refusal', 'No.|content_filter', start, ...words(0, 'No.'), over('refusal'), stop],
  ['a ping between', 'Hi|stop', start, { type: 'ping' }, ...words(0, 'Hi'), over('end_turn'), stop],
  ['a call', 'look({"a":1})|tool_use', start, ...use(0, '{"a":1}'), over('tool_use'), stop],
  [
    'text and two calls',
    'Hi look({})look({"b":2})|tool_use',
    start,
    ...words(0, 'Hi '),
    ...use(1, '{}'),
    ...use(2, '{"b":2}'),
    over('tool_use'),
    stop,
  ],
  ['a call that is no JSON', 'malformed_answer', start, ...use(0, '{"a":'), over('tool_use'), stop],
  ['an overload in the stream', 'overloaded', start, ...words(0, 'Hi'), failure('overloaded_error')],
  ['a rate limit in the stream', 'overloaded', start, failure('rate_limit_error')],
  ['a server error in the stream', 'failed', start, failure('api_error')],
  ['a refused request in the stream', 'invalid_request', start, failure('invalid_request_error')],
  ['nothing', 'failed'],
  ['text and no end', 'failed', start, ...words(0, 'Hel')],
  [
    'half a call and no end',
    'failed',
    start,
    open(0, { type: 'tool_use', id: 't', name: 'look', input: {} }),
  ],
];

const rows = (vendor: AnswerRow['vendor'], list: readonly Row[]): readonly AnswerRow[] =>
  list.map(([name, expected, ...events]) => ({ vendor, name, expected, events }));

export const ANSWERS: readonly AnswerRow[] = [
  ...rows('compatible', COMPATIBLE),
  ...rows('anthropic', ANTHROPIC),
];
