import fc, { type Arbitrary } from 'fast-check';
import { anything, nastyText } from '../support/arbitrary.ts';

/** Mostly the given values, sometimes any value. */
const mostly = (...values: readonly unknown[]): Arbitrary<unknown> =>
  fc.oneof({ arbitrary: fc.constantFrom(...values), weight: 8 }, { arbitrary: anything, weight: 1 });

export const text = fc.oneof(fc.constant('Hello'), nastyText);

const call = fc.record({
  id: fc.constantFrom('t1', 't2'),
  type: mostly('function'),
  function: fc.record({ name: mostly('f'), arguments: mostly('{}', '{"a":1}', '', '[1]', '{"a') }),
});

const part = fc.oneof(
  fc.record({ type: fc.constant('text'), text }),
  fc.record({
    type: fc.constant('image_url'),
    image_url: fc.record({
      url: mostly(
        'data:image/png;base64,AAAA',
        'https://images.example.com/a.png',
        'http://127.0.0.1/',
        'data:,',
      ),
    }),
  }),
  fc.record({
    type: fc.constant('file'),
    file: fc.record(
      { file_data: mostly('data:application/pdf;base64,AAAA', 'x'), file_id: text, filename: text },
      { requiredKeys: [] },
    ),
  }),
  fc.record({ type: fc.constant('input_audio'), input_audio: anything }),
  anything,
);

const content = fc.oneof(text, fc.array(part, { maxLength: 3 }), fc.constant(null), anything);

const message = fc.oneof(
  fc.record({ role: mostly('user', 'system', 'developer', 'function'), content }),
  fc.record(
    {
      role: fc.constant('assistant'),
      content,
      tool_calls: fc.oneof(fc.array(call, { maxLength: 2 }), anything),
      reasoning_details: fc.oneof(fc.array(anything, { maxLength: 2 }), fc.constant([{ type: 'thinking' }])),
    },
    { requiredKeys: ['role'] },
  ),
  fc.record({ role: fc.constant('tool'), tool_call_id: mostly('t1', 't2'), content: text }),
);

const chat = fc.record(
  {
    model: mostly('scripted', 'scripted', 'painter', 'none'),
    messages: fc.oneof(
      fc.constant([{ role: 'user', content: 'Hello' }]),
      fc.array(message, { minLength: 1, maxLength: 4 }),
      anything,
    ),
    stream: mostly(true, false, null),
    stream_options: mostly({ include_usage: true }, null),
    max_tokens: mostly(1, 100, 1e9),
    max_completion_tokens: mostly(1, 100, null),
    temperature: mostly(0, 2, 2.1),
    top_p: mostly(0, 1),
    stop: mostly('END', ['a', 'b'], null),
    seed: mostly(1, null),
    n: mostly(1, 1, null, 2),
    tools: mostly([{ type: 'function', function: { name: 'f' } }], [], null),
    tool_choice: mostly('auto', 'none', 'required', { type: 'function', function: { name: 'f' } }),
    parallel_tool_calls: mostly(true, false),
    response_format: mostly({ type: 'text' }, { type: 'json_object' }, { type: 'json_schema' }),
    reasoning_effort: mostly('low', 'max', null),
    logprobs: mostly(false, null),
    logit_bias: mostly({}, null),
    modalities: mostly(['text'], null),
    unknown_field: anything,
  },
  { requiredKeys: ['model', 'messages'] },
);

const responsePart = fc.oneof(
  fc.record({ type: mostly('input_text', 'output_text', 'text'), text }),
  fc.record(
    {
      type: fc.constant('input_image'),
      image_url: mostly('data:image/png;base64,AAAA', 'data:,'),
      file_id: text,
    },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    {
      type: fc.constant('input_file'),
      file_data: mostly('data:application/pdf;base64,AAAA', 'x'),
      file_url: mostly('https://images.example.com/a.pdf'),
      file_id: text,
      filename: text,
    },
    { requiredKeys: ['type'] },
  ),
  anything,
);

const callId = mostly('t1', 't2');
const responseItem = fc.oneof(
  fc.record(
    {
      type: mostly('message'),
      role: mostly('user', 'assistant', 'system', 'developer'),
      content: fc.oneof(text, fc.array(responsePart, { maxLength: 3 }), anything),
    },
    { requiredKeys: ['role', 'content'] },
  ),
  fc.record(
    {
      type: fc.constant('function_call'),
      call_id: callId,
      name: mostly('f'),
      namespace: mostly('n', null),
      arguments: mostly('{}', '{"a":1}', '', '[1]', '{"a'),
    },
    { requiredKeys: ['type', 'call_id', 'name', 'arguments'] },
  ),
  fc.record({ type: fc.constant('custom_tool_call'), call_id: callId, name: mostly('p'), input: text }),
  fc.record({
    type: mostly('function_call_output', 'custom_tool_call_output'),
    call_id: callId,
    output: fc.oneof(text, fc.array(responsePart, { maxLength: 2 })),
  }),
  fc.record({
    type: fc.constant('reasoning'),
    summary: anything,
    encrypted_content: mostly('gAAAA', 'questline.e30', 'questline.eyJ0eXBlIjoidGhpbmtpbmcifQ', '', null),
  }),
  fc.record({ type: mostly('item_reference', 'web_search_call', 'compaction'), id: text }),
  fc.record({
    type: fc.constant('tool_search_call'),
    call_id: callId,
    arguments: mostly({ query: 'x' }, '{}'),
  }),
  fc.record({
    type: mostly('tool_search_output', 'additional_tools'),
    call_id: callId,
    tools: mostly([{ type: 'function', name: 'g' }], [{ type: 'mcp' }], []),
  }),
  anything,
);

const response = fc.record(
  {
    model: mostly('scripted', 'scripted', 'painter', 'none'),
    input: fc.oneof(text, fc.array(responseItem, { minLength: 1, maxLength: 5 }), anything),
    instructions: mostly('Be brief.', null),
    stream: mostly(true, false, null),
    store: mostly(true, false, null),
    include: mostly(['reasoning.encrypted_content'], [], null),
    max_output_tokens: mostly(1, 100, 1e9),
    temperature: mostly(0, 2, 2.1),
    top_p: mostly(0, 1),
    tools: mostly(
      [
        { type: 'function', name: 'f', parameters: { type: 'object' }, strict: true },
        { type: 'custom', name: 'p', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
        { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f' }] },
        { type: 'tool_search', execution: 'client', parameters: { type: 'object' } },
      ],
      [{ type: 'web_search' }],
      [],
      null,
    ),
    tool_choice: mostly(
      'auto',
      'none',
      'required',
      { type: 'function', name: 'f' },
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
    ),
    parallel_tool_calls: mostly(true, false),
    reasoning: mostly({ effort: 'low', summary: 'auto' }, { effort: null }, null),
    text: mostly({ format: { type: 'json_object' } }, { verbosity: 'low' }, null),
    metadata: mostly({ a: 'b' }, null),
    previous_response_id: mostly(null, 'resp_1'),
    background: mostly(false, true),
    unknown_field: anything,
  },
  { requiredKeys: ['model', 'input'] },
);

/** The bodies of an operation, by its path. */
export const BODIES: Readonly<Record<string, Arbitrary<unknown>>> = {
  '/chat/completions': chat,
  '/responses': response,
  '/embeddings': fc.record(
    {
      model: mostly('demo-embedding', 'none'),
      input: fc.oneof(text, fc.array(text, { maxLength: 3 }), anything),
      dimensions: mostly(8, null),
      encoding_format: mostly('float', 'base64'),
    },
    { requiredKeys: ['model', 'input'] },
  ),
  '/images/generations': fc.record(
    {
      prompt: text,
      model: mostly('painter', null),
      n: mostly(1, 4, 11, null),
      size: mostly('auto', '512x512', '99999x1'),
      quality: mostly('auto', 'hd', 'low'),
      output_format: mostly('png', 'gif'),
      response_format: mostly('b64_json', 'url'),
    },
    { requiredKeys: ['prompt'] },
  ),
  '/audio/speech': fc.record(
    {
      model: mostly('reader-sounds', 'none'),
      input: text,
      voice: mostly('alloy', { id: 'v' }),
      response_format: mostly('mp3', 'wav', 'ogg'),
      speed: mostly(1, 2),
    },
    { requiredKeys: ['model', 'input', 'voice'] },
  ),
};
