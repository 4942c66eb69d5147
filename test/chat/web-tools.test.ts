import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebToolError, type WebTools } from '@questline/core/ports';
import { createDocumentExtractor } from '@questline/documents';
import { createWebTools } from '@questline/providers/web';
import { describe, expect, it } from 'vitest';
import { makePdf } from '../../packages/documents/test/make.ts';
import { answerParts, createChatApp } from '../support/chat.ts';
import { callTool } from '../support/execution.ts';
import type { ModelCall } from '../support/model.ts';

const ALL: Required<Pick<WebTools, 'search' | 'fetchPage' | 'weather'>> = {
  search: async (query, count) => [{ title: query, url: 'https://found.example', snippet: String(count) }],
  fetchPage: async (url, offset) =>
    ({ url, title: 'Page', text: `from ${offset}`, truncated: false }) as never,
  weather: async (place, units) => ({ place, units }) as never,
};
const TOOLS = [
  ['search', 'web_search'],
  ['fetchPage', 'web_fetch'],
  ['weather', 'weather_info'],
] as const;

const offeredTo = (call: ModelCall | undefined): string[] =>
  (call?.request.tools ?? [])
    .map(({ name }) => name)
    .filter((name) => TOOLS.some(([, tool]) => tool === name));

/** Calls the tool once, and answers with its result. */
async function call(web: WebTools, tool: string, input: object) {
  const app = await createChatApp({
    web,
    onCall(asked) {
      const last = asked.request.messages.at(-1)?.content[0];
      if (last?.type !== 'tool_result') return callTool(asked, tool, input);
      asked.say(...answerParts(`${last.isError ? 'failed' : 'found'}: ${last.content}`));
      asked.end();
    },
  });
  const { body } = await app.chat({ message: 'Hi', tools: [tool], wait: true });
  return { app, response: String(body.response) };
}

describe('web tools of a turn', () => {
  const subsets = Array.from({ length: 8 }, (_, bits) => TOOLS.filter((_tool, at) => (bits >> at) % 2 === 1));

  it.each(subsets.map((tools) => [tools.map(([port]) => port), tools.map(([, tool]) => tool)]))(
    'are those that the host has: %j',
    async (ports, expected) => {
      const web = Object.fromEntries(ports.map((port) => [port, ALL[port as keyof typeof ALL]])) as WebTools;
      const app = await createChatApp({ web });
      await app.chat({ message: 'Hi', enableTools: true, enableQuestMaster: false, wait: true });
      expect(offeredTo(app.calls[0]).sort()).toEqual([...expected].sort());
      await app.chat({ message: 'Hi', tools: TOOLS.map(([, tool]) => tool), wait: true });
      expect(offeredTo(app.calls[1]).sort()).toEqual([...expected].sort());
    },
  );

  it.each([
    ['web_search', { query: 'bees' }, '[{"title":"bees","url":"https://found.example","snippet":"5"}]'],
    ['web_search', { query: 'bees', num_results: 2 }, '"snippet":"2"'],
    ['web_fetch', { url: 'https://a.example' }, '"text":"from 0"'],
    ['web_fetch', { url: 'https://a.example', offset: 7 }, '"text":"from 7"'],
    ['weather_info', { lat: 1, lon: 2 }, '{"place":{"lat":1,"lon":2},"units":"metric"}'],
    ['weather_info', { lat: 1, lon: 2, units: 'imperial' }, '"units":"imperial"'],
  ])('%s gives the model what it finds: %j', async (tool, input, expected) => {
    const { response } = await call(ALL, tool, input);
    expect(response).toMatch(/^found: /);
    expect(response).toContain(expected);
  });

  it('web_fetch reads a PDF file, in the turn of its user', async () => {
    const site = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/pdf' }).end(makePdf(['Bees dance.']));
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    const extractor = createDocumentExtractor();
    const { fetchPage } = createWebTools({
      isAllowedAddress: (address) => address === '127.0.0.1',
      extractors: [extractor],
    });
    const owners: unknown[] = [];
    const web: WebTools = {
      fetchPage(url, offset, options) {
        owners.push(options?.owner);
        return fetchPage(url, offset, options);
      },
    };
    const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const { app, response } = await call(web, 'web_fetch', { url });
    expect(response).toMatch(/^found: .*"text":"Bees dance\."/);
    const { body } = await app.json('POST', '/api/ai/v1/tools', {
      body: { toolName: 'web_fetch', input: { url } },
      credential: await app.token(),
    });
    expect(body.result).toMatchObject({ text: 'Bees dance.' });
    expect(owners).toEqual([app.user.id, app.user.id]);
    await extractor.close?.();
    await new Promise((resolve) => site.close(resolve));
  });

  it.each(TOOLS)('report why %s failed, without the text of other errors', async (port, tool) => {
    const input = { query: 'bees', url: 'https://a.example', lat: 1, lon: 2 };
    const known = new WebToolError('INVALID_INPUT', 'This is not possible.');
    expect((await call({ [port]: () => Promise.reject(known) }, tool, input)).response).toBe(
      'failed: This is not possible.',
    );
    const secret = new Error('secret of the remote');
    expect((await call({ [port]: () => Promise.reject(secret) }, tool, input)).response).toBe(
      'failed: The tool failed.',
    );
  });

  it.each([
    ['What is the latest news?', ['web_search']],
    ['Please look up bees', ['web_search']],
    ['Read https://a.example for me', ['web_fetch']],
    ['Will it rain in Oslo?', ['weather_info']],
    ['Search the web for a weather forecast', ['weather_info', 'web_search']],
    ['Tell me a joke', []],
  ])('are offered by a smart tool mode where they fit: %s', async (message, expected) => {
    const app = await createChatApp({ web: ALL });
    await app.chat({ message, toolMode: 'smart', wait: true });
    expect(offeredTo(app.calls[0]).sort()).toEqual(expected);
  });

  it.each(TOOLS)('end their work when the turn is cancelled: %s', async (port, tool) => {
    const signals: (AbortSignal | undefined)[] = [];
    const wait = (...given: unknown[]): Promise<never> => {
      const { signal } = given.at(-1) as { signal?: AbortSignal };
      signals.push(signal);
      return new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
    };
    const app = await createChatApp({
      web: { [port]: wait },
      onCall: (asked) => callTool(asked, tool, { query: 'bees', url: 'https://a.example', lat: 1, lon: 2 }),
    });
    const { id } = (await app.chat({ message: 'Hi', tools: [tool] })).body;
    await app.settle();
    expect(signals.map((signal) => signal?.aborted)).toEqual([false]);
    await app.json('POST', `/api/v1/quests/${id}/cancel`);
    await app.settle();
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
    expect((await app.poll(id)).status).toBe('stopped');
  });
});

describe('web tools that an application runs', () => {
  it('report each failure to the host, with its cause and the id of the request', async () => {
    const cause = new Error('secret of the remote');
    const app = await createChatApp({ web: { search: () => Promise.reject(cause) } });
    const { status, body } = await app.json('POST', '/api/ai/v1/tools', {
      body: { toolName: 'web_search', input: { query: 'bees' } },
      credential: await app.token(),
    });
    expect([status, body.error]).toEqual([500, 'The tool failed.']);
    expect(app.incidents).toEqual([{ operation: 'executeTool', requestId: body.request_id, error: cause }]);
  });
});
