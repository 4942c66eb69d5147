import type { ResponseInput } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import { toDataUrl, toTextDocument, WORD_TYPE, wordExtractor } from '../support/word-files.ts';
import { createOpenAIApp } from './support.ts';
import { QUESTION } from './support-responses.ts';

const PNG = 'iVBORw0KGgo=';
const USER = { role: 'user', content: 'Hi' } as const;

function call(id: string, name = 'f') {
  return { type: 'function_call', call_id: id, name, arguments: '{}' } as const;
}

function result(id: string, output = 'done') {
  return { type: 'function_call_output', call_id: id, output } as const;
}

/** The conversation that the model gets. */
async function convert(input: ResponseInput, fields: object = {}) {
  const app = await createOpenAIApp();
  await app.client.responses.create({ ...QUESTION, input, ...fields });
  return app.calls[0]?.request.messages;
}

describe('the input of a response', () => {
  it('is messages of every role, with or without a type', async () => {
    const messages = await convert(
      [
        { role: 'developer', content: 'Use metric units.' },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
        {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
        },
        { role: 'user', content: 'Well?' },
      ],
      { instructions: 'Be brief.' },
    );
    expect(messages).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      { role: 'system', content: [{ type: 'text', text: 'Use metric units.' }] },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] },
      { role: 'user', content: [{ type: 'text', text: 'Well?' }] },
    ]);
  });

  it('has images and files', async () => {
    const app = await createOpenAIApp({
      web: { fetchFile: async () => ({ mediaType: 'image/png', data: Buffer.from(PNG, 'base64') }) },
    });
    await app.client.responses.create({
      ...QUESTION,
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${PNG}` },
            { type: 'input_image', detail: 'low', image_url: 'https://images.example.com/a.png' },
            {
              type: 'input_file',
              filename: 'a.pdf',
              file_data: 'data:application/pdf;base64,JVBERi0=',
            },
          ],
        },
      ],
    });
    const image = { type: 'image', mediaType: 'image/png', data: PNG };
    expect(app.calls[0]?.request.messages[0]?.content).toEqual([
      image,
      image,
      { type: 'document', mediaType: 'application/pdf', data: 'JVBERi0=', name: 'a.pdf' },
    ]);
  });

  it('has the text of documents that the model does not read', async () => {
    const app = await createOpenAIApp({ extractors: [wordExtractor] });
    const ask = (file_data: string) =>
      app.client.responses.create({
        ...QUESTION,
        input: [{ role: 'user', content: [{ type: 'input_file', filename: 'a.docx', file_data }] }],
      });
    await ask(toDataUrl(WORD_TYPE, 'A lake.'));
    expect(app.calls[0]?.request.messages[0]?.content).toEqual([toTextDocument('a.docx', 'Text: A lake.')]);
    await expect(ask(toDataUrl(WORD_TYPE, 'broken'))).rejects.toMatchObject({
      status: 400,
      param: 'input[0].content[0].file_data',
    });
  });

  it('puts the results of calls directly after the calls, whatever stands between', async () => {
    const messages = await convert([
      USER,
      call('t1'),
      call('t2', 'g'),
      { role: 'developer', content: 'Note.' },
      result('t2', 'two'),
      result('t1', 'one'),
      call('t1'),
      result('t1', 'again'),
    ]);
    const use = (id: string, name: string) => ({ type: 'tool_use', id, name, input: {} });
    const done = (id: string, name: string, content: string) => ({
      type: 'tool_result',
      toolUseId: id,
      toolName: name,
      content,
      isError: false,
    });
    expect(messages?.slice(1)).toEqual([
      { role: 'assistant', content: [use('t1', 'f'), use('t2', 'g')] },
      { role: 'user', content: [done('t1', 'f', 'one'), done('t2', 'g', 'two')] },
      { role: 'system', content: [{ type: 'text', text: 'Note.' }] },
      { role: 'assistant', content: [use('t1', 'f')] },
      { role: 'user', content: [done('t1', 'f', 'again')] },
    ]);
  });

  it('passes on images in results after the results', async () => {
    const image_url = `data:image/png;base64,${PNG}`;
    const output = [
      { type: 'input_text', text: 'Here:' },
      { type: 'input_image', detail: 'auto', image_url },
    ] as const;
    const messages = await convert([
      USER,
      call('t1', 'view'),
      { type: 'function_call_output', call_id: 't1', output: [...output] },
    ]);
    expect(messages?.at(-1)?.content).toMatchObject([
      { type: 'tool_result', content: 'Here:\n[image: follows the results]' },
      { type: 'text', text: 'The image of the result of view:' },
      { type: 'image', data: PNG },
    ]);
  });

  it('skips the records of tools that the vendor ran', async () => {
    const messages = await convert([
      USER,
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
      { role: 'assistant', content: 'Found.' },
      USER,
    ] as ResponseInput);
    expect(messages?.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  });

  it.each([
    ['a result without its call', [USER, result('t1')], 'input[1].call_id'],
    ['a result before its call', [USER, result('t1'), call('t1')], 'input[1].call_id'],
    ['a second result', [USER, call('t1'), result('t1'), result('t1')], 'input[3].call_id'],
    ['a call without its result', [USER, call('t1')], 'input[1]'],
    ['two open calls of one id', [USER, call('t1'), call('t1'), result('t1')], 'input[2].call_id'],
    [
      'arguments that are not JSON',
      [USER, { ...call('t1'), arguments: '{"a' }, result('t1')],
      'input[1].arguments',
    ],
    ['an unknown item', [USER, { type: 'computer_call', id: 'c1' }], 'input[1].type'],
    ['an image without data', [{ role: 'user', content: [{ type: 'input_image' }] }], 'input[0].content[0]'],
    [
      'a part without its text',
      [{ role: 'user', content: [{ type: 'input_text' }] }],
      'input[0].content[0].text',
    ],
    [
      'an image of the assistant',
      [{ role: 'assistant', content: [{ type: 'input_image', image_url: 'x' }] }],
      'input[0].content[0]',
    ],
    ['an image in instructions', [{ role: 'system', content: [dataImage()] }], 'input[0]'],
    ['nothing to say', [{ role: 'user', content: [] }], 'input'],
    [
      'reasoning that was changed',
      [USER, { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'questline.e30' }],
      'input[1].encrypted_content',
    ],
  ])('is rejected for %s', async (_title, input, param) => {
    const app = await createOpenAIApp();
    const asked = app.client.responses.create({ ...QUESTION, input: input as ResponseInput });
    await expect(asked).rejects.toMatchObject({ status: 400, param, type: 'invalid_request_error' });
    expect(app.calls).toHaveLength(0);
  });
});

function dataImage() {
  return { type: 'input_image', image_url: `data:image/png;base64,${PNG}` };
}
