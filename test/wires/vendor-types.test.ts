import type { ApiRequest, ApiResponse } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { createAnthropicApp } from '../anthropic/support.ts';
import { createOpenAIApp } from '../openai/support.ts';
import { createScriptedProvider, SCRIPTED_MODEL } from '../support/model.ts';
import { checkAnswer, type Vendor, withVendorTypes } from '../support/vendor-types/check-wire.ts';
import { countChecked, takeMismatches } from '../support/vendor-types/mismatches.ts';

const CHOICE = {
  index: 0,
  logprobs: null,
  finish_reason: 'stop',
  message: { role: 'assistant', content: 'Hi', refusal: null },
};
const COMPLETION = { id: 'c1', object: 'chat.completion', created: 1, model: 'm', choices: [CHOICE] };
const MESSAGE_ITEM = { type: 'message', id: 'm1', role: 'assistant', status: 'completed', content: [] };
const DONE = { type: 'response.output_item.done', sequence_number: 1, output_index: 0, item: MESSAGE_ITEM };
const ANTHROPIC_ERROR = {
  type: 'error',
  error: { type: 'not_found_error', message: 'no' },
  request_id: null,
};

type Case = readonly [
  title: string,
  vendor: Vendor,
  answer: string,
  value: unknown,
  found: readonly string[],
];

const CASES: readonly Case[] = [
  ['a correct answer', 'openai', 'POST /v1/chat/completions', COMPLETION, []],
  ['a correct event', 'openai', 'POST /v1/responses, stream', DONE, []],
  ['a correct error', 'anthropic', 'error', ANTHROPIC_ERROR, []],
  [
    'another type',
    'openai',
    'POST /v1/chat/completions',
    { ...COMPLETION, created: '1' },
    ['created expected number, received "1"'],
  ],
  [
    'null for an optional field',
    'openai',
    'POST /v1/chat/completions',
    { ...COMPLETION, usage: null },
    ['usage expected CompletionUsage | undefined, received null'],
  ],
  [
    'a missing field of an item',
    'openai',
    'POST /v1/chat/completions',
    { ...COMPLETION, choices: [{ ...CHOICE, message: { role: 'assistant', content: null } }] },
    ['choices[0].message.refusal is missing: ChatCompletionMessage.refusal'],
  ],
  [
    'an unknown value',
    'openai',
    'POST /v1/chat/completions',
    { ...COMPLETION, choices: [{ ...CHOICE, finish_reason: 'done' }] },
    [expect.stringMatching(/^choices\[0\]\.finish_reason expected .*"stop" \|.*, received "done"$/)],
  ],
  [
    'an unknown field',
    'openai',
    'POST /v1/chat/completions',
    { ...COMPLETION, choices: [{ ...CHOICE, text: 'Hi' }] },
    ['choices[0].text is not a field of ChatCompletion.Choice'],
  ],
  [
    'a wrong field of the item of an event',
    'openai',
    'POST /v1/responses, stream',
    { ...DONE, item: { ...MESSAGE_ITEM, status: 'done' } },
    [expect.stringMatching(/^item expected ResponseOutputItem/)],
  ],
  [
    'an unknown event',
    'anthropic',
    'POST /v1/messages, stream',
    { type: 'message_end' },
    [expect.stringContaining('received {"type":"message_end"}')],
  ],
  [
    'an unknown kind of error',
    'anthropic',
    'error',
    { ...ANTHROPIC_ERROR, error: { type: 'no_error', message: '' } },
    [expect.stringMatching(/^error expected ErrorObject/)],
  ],
];

/** A wire that always gives one answer. */
function answering(response: Pick<ApiResponse, 'status' | 'body'>, type: string) {
  return withVendorTypes('openai', {
    handle: async () => ({ ...response, headers: { 'Content-Type': type } }),
  });
}

const asked = { method: 'POST', path: '/v1/chat/completions' } as ApiRequest;

describe('the check of answers against the types of the SDKs', () => {
  it.each(CASES)('reports %s', (_title, vendor, answer, value, found) => {
    const mismatches = checkAnswer(vendor, answer, value);
    expect(mismatches.map(({ path, message }) => `${path} ${message}`)).toEqual(found);
  });

  it('reports an answer and an error of a wire', async () => {
    const before = countChecked();
    await answering({ status: 200, body: '{"id":1}' }, 'application/json').handle(asked);
    await answering({ status: 404, body: '{"error":"no"}' }, 'application/json').handle(asked);
    const found = takeMismatches();
    expect(found).toEqual(
      expect.arrayContaining([expect.stringContaining('id expected string, received 1')]),
    );
    expect(found).toEqual(expect.arrayContaining([expect.stringContaining('error expected ErrorObject')]));
    expect(countChecked() - before).toBe(2);
  });

  it('reports the events of a stream that is cut anywhere', async () => {
    async function* body() {
      yield ': ping\n\ndata: {"id":"c1","object":"chat.';
      yield 'completion.chunk","created":1,"model":"m","choices":[{}]}\n\ndata: [DONE]\n\n';
    }
    const response = await answering({ status: 200, body: body() }, 'text/event-stream').handle(asked);
    if (response === undefined) throw new Error('no response');
    for await (const chunk of response.body as AsyncIterable<string>) expect(chunk).not.toBe('');
    const missing = ['delta', 'finish_reason', 'index'].map((field) =>
      expect.stringContaining(`choices[0].${field} is missing: ChatCompletionChunk.Choice.${field}`),
    );
    expect([...takeMismatches()].sort()).toEqual(missing);
  });
});

describe('the models of both wires', () => {
  const model = { ...SCRIPTED_MODEL, deprecationDate: '2027-03-01' };
  const options = { model: createScriptedProvider(() => undefined, [model]) };

  it('say when a model retires', async () => {
    const retires = {
      shutdown_date: '2027-03-01',
      lifecycle: 'deprecated',
      retires_at: '2027-03-01T00:00:00.000Z',
    };
    const openai = await createOpenAIApp(options);
    expect((await openai.client.models.list()).data).toMatchObject([retires]);
    const anthropic = await createAnthropicApp(options);
    expect(await anthropic.client.models.retrieve('scripted')).toMatchObject(retires);
  });
});
