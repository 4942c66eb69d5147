import type { ContentBlockParam, MessageParam } from '@anthropic-ai/sdk/resources/messages';
import { describe, expect, it } from 'vitest';
import { toTextDocument, WORD_TYPE, wordExtractor } from '../support/word-files.ts';
import { ASK, createAnthropicApp, TOOLS } from './support.ts';

const PNG = 'iVBORw0KGgo=';
const IMAGE = { type: 'image', mediaType: 'image/png', data: PNG };

const asUser = (...content: ContentBlockParam[]): { messages: MessageParam[] } => ({
  messages: [{ role: 'user', content }],
});

describe('content of the Anthropic wire', () => {
  it('is read from base64 and fetched from https URLs through the guard', async () => {
    const fetched: string[] = [];
    const app = await createAnthropicApp({
      web: {
        fetchFile: async (url, { accept }) => {
          fetched.push(`${url} ${accept.join()}`);
          return url.endsWith('.pdf')
            ? { mediaType: 'application/pdf', data: Buffer.from('%PDF-') }
            : { mediaType: 'image/png', data: Buffer.from(PNG, 'base64') };
        },
      },
    });
    await app.client.messages.create({
      ...ASK,
      ...asUser(
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
        { type: 'image', source: { type: 'url', url: 'https://images.example.com/a.png' } },
        { type: 'document', source: { type: 'url', url: 'https://images.example.com/a.pdf' }, title: 'a' },
      ),
    });
    expect(app.calls[0]?.request.messages[0]?.content).toEqual([
      IMAGE,
      IMAGE,
      { type: 'document', mediaType: 'application/pdf', data: 'JVBERi0=', name: 'a' },
    ]);
    expect(fetched).toEqual([
      'https://images.example.com/a.png image/',
      'https://images.example.com/a.pdf application/,text/',
    ]);
    await expect(
      app.client.messages.create({
        ...ASK,
        ...asUser({ type: 'image', source: { type: 'url', url: 'http://127.0.0.1/a.png' } }),
      }),
    ).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('messages.0.content.0.source.url'),
    });
  });

  it('has documents as base64, text and blocks', async () => {
    const app = await createAnthropicApp();
    await app.client.messages.create({
      ...ASK,
      ...asUser(
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
          title: 'Report',
          context: 'Of 2025.',
        },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Hello' } },
        { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'Part' }] } },
        {
          type: 'search_result',
          source: 'https://example.com',
          title: 'Found',
          content: [{ type: 'text', text: 'It rains.' }],
        },
      ),
    });
    expect(app.calls[0]?.request.messages[0]?.content).toEqual([
      { type: 'text', text: 'About the document Report: Of 2025.' },
      { type: 'document', mediaType: 'application/pdf', data: 'JVBERi0=', name: 'Report' },
      { type: 'document', mediaType: 'text/plain', data: 'SGVsbG8=', name: 'document' },
      { type: 'text', text: 'Part' },
      { type: 'text', text: 'Found (https://example.com)\nIt rains.' },
    ]);
  });

  it('has the text of documents that the model does not read', async () => {
    const app = await createAnthropicApp({ extractors: [wordExtractor] });
    const ask = (media_type: string, data: string) =>
      app.send('POST', '/messages', {
        ...ASK,
        ...asUser({ type: 'document', source: { type: 'base64', media_type, data } } as never),
      });
    await ask(WORD_TYPE, Buffer.from('A lake.').toString('base64'));
    await ask('text/csv; charset=iso-8859-2', '5g==');
    expect(app.calls.map(({ request }) => request.messages[0]?.content)).toEqual([
      [toTextDocument('document', 'Text: A lake.')],
      [toTextDocument('document', 'ć')],
    ]);
    const refused = await ask(WORD_TYPE, Buffer.from('broken').toString('base64'));
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('messages.0.content.0.source: document could not be read');
  });

  it('keeps images in results of tools, behind the results', async () => {
    const app = await createAnthropicApp();
    await app.client.messages.create({
      ...ASK,
      tools: TOOLS,
      messages: [
        ...ASK.messages,
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 't1', name: 'weather', input: {} },
            { type: 'tool_use', id: 't2', name: 'time', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't1',
              content: [
                { type: 'text', text: 'A map.' },
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
              ],
            },
            {
              type: 'tool_result',
              tool_use_id: 't2',
              content: [
                { type: 'tool_reference', tool_name: 'clock' },
                {
                  type: 'search_result',
                  source: 'https://example.com',
                  title: 'Found',
                  content: [{ type: 'text', text: 'Noon.' }],
                },
              ],
            },
          ],
        },
      ],
    });
    expect(app.calls[0]?.request.messages[2]?.content).toEqual([
      {
        type: 'tool_result',
        toolUseId: 't1',
        toolName: 'weather',
        content: 'A map.\n[image: follows the results]',
        isError: false,
      },
      {
        type: 'tool_result',
        toolUseId: 't2',
        toolName: 'time',
        content: 'The tool clock can be called.\nFound (https://example.com)\nNoon.',
        isError: false,
      },
      { type: 'text', text: 'The image of the result of weather:' },
      IMAGE,
    ]);
  });

  it('has cache breakpoints where the client sets them', async () => {
    const app = await createAnthropicApp();
    const marked = { cache_control: { type: 'ephemeral' as const } };
    await app.client.messages.create({
      ...ASK,
      system: [
        { type: 'text', text: 'Be brief.' },
        { type: 'text', text: 'Use metric units.', ...marked },
      ],
      ...asUser({ type: 'text', text: 'A long text', ...marked }, { type: 'text', text: 'And a question' }),
    });
    expect(app.calls[0]?.request.messages).toEqual([
      {
        role: 'system',
        content: [
          { type: 'text', text: 'Be brief.' },
          { type: 'text', text: 'Use metric units.' },
        ],
        cacheBreakpoint: true,
      },
      { role: 'user', content: [{ type: 'text', text: 'A long text' }], cacheBreakpoint: true },
      { role: 'user', content: [{ type: 'text', text: 'And a question' }] },
    ]);
  });

  it('reaches the model with every option', async () => {
    const app = await createAnthropicApp();
    const response = await app.send('POST', '/messages', {
      ...ASK,
      system: 'Be brief.',
      tools: TOOLS,
      tool_choice: { type: 'tool', name: 'time', disable_parallel_tool_use: true },
      temperature: 0.5,
      top_p: 0.5,
      top_k: 7,
      stop_sequences: ['END', 'STOP'],
      metadata: { user_id: 'someone else' },
      service_tier: 'auto',
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
    });
    expect(app.calls[0]?.request).toEqual({
      model: 'scripted',
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
        { role: 'user', content: [{ type: 'text', text: 'Weather in Oslo?' }] },
      ],
      tools: expect.any(Array),
      toolChoice: { name: 'time' },
      parallelToolCalls: false,
      temperature: 0.5,
      topP: 0.5,
      topK: 7,
      stop: ['END', 'STOP'],
      maxTokens: 100,
      responseFormat: { type: 'schema', name: 'answer', schema: { type: 'object' } },
      promptCache: { mode: 'auto', key: expect.any(String) },
    });
    expect(response.headers.get('x-ignored-fields')).toBe('metadata, service_tier');
  });

  it.each([
    ['auto', 'auto'],
    ['any', 'required'],
    ['none', 'none'],
  ] as const)('has the tool choice %s', async (type, expected) => {
    const app = await createAnthropicApp();
    await app.client.messages.create({ ...ASK, tools: TOOLS, tool_choice: { type } });
    expect(app.calls[0]?.request.toolChoice).toBe(expected);
  });
});
