import { createOpenAI } from '@ai-sdk/openai';
import { createDemoProvider } from '@questline/core';
import { generateText, streamText } from 'ai';
import { describe, expect, it } from 'vitest';
import { filledLake, makeLake } from '../support/lakes.ts';
import { createScriptedProvider, type ModelCall } from '../support/model.ts';
import { createOpenAIApp, type OpenAIApp, readError } from './support.ts';
import { BOTH, QUESTION, readEvents } from './support-responses.ts';
import { ANSWER, callSearch, createWebSearch, sayInRounds } from './support-server-tools.ts';

const STORIES = {
  'hedgehog.txt': 'A hedgehog sleeps all winter in a heap of leaves.',
  'bread.txt': 'Bread rises when yeast eats sugar.',
};
const SEARCH = callSearch('c1', 'Where does a hedgehog sleep?', 'file_search');
const CITED = { type: 'text' as const, text: 'In leaves [hedgehog.txt].' };
const SCOPES = ['ai:chat', 'datalake:query'] as const;

async function createLakeApp(
  onCall: (call: ModelCall) => void,
  options: Parameters<typeof createOpenAIApp>[0] = {},
): Promise<OpenAIApp> {
  const model = createScriptedProvider(onCall);
  return createOpenAIApp({
    key: { scopes: [...SCOPES] },
    ...options,
    model,
    models: [model, createDemoProvider()],
    settings: { admin: { DefaultAPIModel: 'scripted', EnableDataLakes: true } },
  });
}

const toTool = (...vector_store_ids: string[]) => ({ type: 'file_search' as const, vector_store_ids });

describe.each(BOTH)('file search in a response that is %s', (_title, question) => {
  it('searches data lakes, cites their files, and charges the query exactly', async () => {
    const app = await createLakeApp(sayInRounds([SEARCH], [CITED]));
    const { lakeId, fileIds } = await filledLake(app, STORIES);
    const before = await app.ledger.charges({ account: app.account }, 100);
    const response = await app.client.responses.create({
      ...question,
      tools: [{ ...toTool(lakeId, lakeId), max_num_results: 1, ranking_options: { ranker: 'auto' } }],
      include: ['file_search_call.results'],
    });
    const [call, message] = response.output.filter(({ type }) => type !== 'reasoning');
    expect(call).toEqual({
      id: expect.stringMatching(/^fs_/),
      type: 'file_search_call',
      status: 'completed',
      queries: ['Where does a hedgehog sleep?'],
      results: [
        {
          file_id: fileIds['hedgehog.txt'],
          filename: 'hedgehog.txt',
          score: expect.any(Number),
          text: STORIES['hedgehog.txt'],
          attributes: {},
        },
      ],
    });
    expect(message).toMatchObject({
      content: [
        {
          annotations: [
            {
              type: 'file_citation',
              file_id: fileIds['hedgehog.txt'],
              filename: 'hedgehog.txt',
              index: CITED.text.indexOf('['),
            },
          ],
        },
      ],
    });
    expect(JSON.stringify(app.calls[1]?.request.messages.at(-1))).toContain('heap of leaves');
    const charges = await app.ledger.charges({ account: app.account }, 100);
    const made = charges.slice(0, charges.length - before.length);
    expect(made.map(({ operation }) => operation).sort()).toEqual([
      'createResponse',
      'createResponse',
      'file_search',
    ]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('leaves the results out of the item unless they are asked for, and below the threshold', async () => {
    const app = await createLakeApp(sayInRounds([SEARCH], [CITED]));
    const { lakeId } = await filledLake(app, STORIES);
    const plain = await app.client.responses.create({ ...question, tools: [toTool(lakeId)] });
    expect(plain.output[0]).toMatchObject({ type: 'file_search_call', results: null });
    const strict = await createLakeApp(sayInRounds([SEARCH], [CITED]));
    const { lakeId: other } = await filledLake(strict, STORIES);
    const none = await strict.client.responses.create({
      ...question,
      tools: [{ ...toTool(other), ranking_options: { score_threshold: 1 } }],
      include: ['file_search_call.results'],
    });
    expect(none.output[0]).toMatchObject({ status: 'completed', results: [] });
  });

  it('knows no lake of another user, and no lake of no user, in the same words', async () => {
    const app = await createLakeApp(sayInRounds([SEARCH], [CITED]));
    const lakeId = await makeLake(app);
    const stranger = await app.addUser('b@example.com');
    const { key } = await app.issue({ userId: stranger.id, scopes: [...SCOPES] });
    const answers = await Promise.all(
      [lakeId, lakeId.replace(/.$/, (last) => (last === '0' ? '1' : '0'))].map(async (id) => {
        const body = { ...question, tools: [toTool(id)] };
        const response = await app.send('POST', '/responses', body, { Authorization: `Bearer ${key}` });
        return { status: response.status, text: (await response.text()).replaceAll(id, 'ID') };
      }),
    );
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toMatchObject({ status: 404 });
    expect(JSON.parse(answers[0]?.text ?? '')).toMatchObject({
      error: { param: 'tools[0].vector_store_ids[0]', message: expect.stringContaining('not found') },
    });
    expect(app.calls).toHaveLength(0);
  });

  it('finds nothing in a lake that the user loses between the request and the search', async () => {
    let lakeId = '';
    const app: OpenAIApp = await createOpenAIApp(await losing());
    async function losing() {
      const model = createScriptedProvider(async (call) => {
        if (call.request.messages.length === 1) {
          await app.ask('DELETE', `/api/v1/data-lakes/${lakeId}`, { credential: await app.token() });
        }
        sayInRounds(call.request.messages.length === 1 ? [SEARCH] : [ANSWER])(call);
      });
      return {
        model,
        models: [model, createDemoProvider()],
        key: { scopes: [...SCOPES] },
        settings: { admin: { DefaultAPIModel: 'scripted', EnableDataLakes: true } },
      };
    }
    ({ lakeId } = await filledLake(app, STORIES));
    const response = await app.client.responses.create({ ...question, tools: [toTool(lakeId)] });
    expect(response.status).toBe('completed');
    expect(JSON.stringify(app.calls[1]?.request.messages)).not.toContain('heap of leaves');
  });
});

describe('file search', () => {
  it('needs the scope of data lakes', async () => {
    const app = await createLakeApp(sayInRounds([ANSWER]), { key: { scopes: ['ai:chat'] } });
    const lakeId = await makeLake(app);
    const response = await app.send('POST', '/responses', { ...QUESTION, tools: [toTool(lakeId)] });
    expect(response.status).toBe(403);
    expect(await readError(response)).toMatchObject({
      param: 'tools[0].type',
      message: expect.stringContaining('datalake:query'),
    });
  });

  it('is refused while data lakes are switched off', async () => {
    const app = await createOpenAIApp({ key: { scopes: [...SCOPES] } });
    const response = await app.send('POST', '/responses', { ...QUESTION, tools: [toTool('a')] });
    expect(response.status).toBe(403);
  });

  it('streams its events', async () => {
    const app = await createLakeApp(sayInRounds([SEARCH], [CITED]));
    const { lakeId } = await filledLake(app, STORIES);
    const body = { ...QUESTION, stream: true, tools: [toTool(lakeId)] };
    const types = (await readEvents(await app.send('POST', '/responses', body))).map(({ type }) => type);
    expect(types).toEqual(
      expect.arrayContaining([
        'response.file_search_call.in_progress',
        'response.file_search_call.searching',
        'response.file_search_call.completed',
        'response.output_text.annotation.added',
      ]),
    );
  });
});

describe('the tools of @ai-sdk/openai', () => {
  it.each([true, false])('search the web and files, and give their sources (store: %s)', async (store) => {
    const { web } = createWebSearch();
    const app = await createLakeApp(sayInRounds([SEARCH], [callSearch('c2', 'a')], [ANSWER, CITED]), { web });
    const { lakeId, fileIds } = await filledLake(app, STORIES);
    const openai = createOpenAI({ baseURL: app.baseURL, apiKey: app.key });
    const options = {
      model: openai('scripted'),
      prompt: 'Weather?',
      tools: {
        web_search: openai.tools.webSearch(),
        file_search: openai.tools.fileSearch({ vectorStoreIds: [lakeId] }),
      },
      providerOptions: { openai: { store } },
    };
    const result = await generateText(options);
    expect(result.text).toBe(ANSWER.type === 'text' ? ANSWER.text + CITED.text : '');
    expect(result.toolCalls.map(({ toolName }) => toolName)).toEqual(['file_search', 'web_search']);
    expect(result.sources).toEqual([
      expect.objectContaining({ sourceType: 'url', url: 'https://www.yr.no/oslo' }),
      expect.objectContaining({ sourceType: 'url', url: 'https://met.no/' }),
      expect.objectContaining({ sourceType: 'document', filename: 'hedgehog.txt' }),
    ]);
    expect(JSON.stringify(result.sources)).toContain(fileIds['hedgehog.txt']);
    expect(result.totalUsage).toMatchObject({ inputTokens: 30, outputTokens: 15 });
    const streamed = streamText(options);
    expect(await streamed.text).toContain('leaves');
    const next = await generateText({
      ...options,
      prompt: undefined as never,
      messages: [
        { role: 'user', content: 'Weather?' },
        ...result.response.messages,
        { role: 'user', content: 'Sure?' },
      ],
    });
    expect(next.text).toContain('leaves');
  });
});
