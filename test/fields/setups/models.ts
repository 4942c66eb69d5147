import type { ModelInfo } from '@questline/core/ports';
import { callOnce, createMailTools } from '../../support/approvals.ts';
import { sayAtOnce } from '../../support/chat.ts';
import { addMemento } from '../../support/mementos.ts';
import { createScriptedProvider, type ModelCall, SCRIPTED_MODEL } from '../../support/model.ts';
import { makeSession } from '../../support/owned-resources.ts';
import type { TestApp, TestAppOptions } from '../../support/test-app.ts';
import { createAnsweredSession } from '../../wire/answered-session.ts';
import type { Setup } from '../outcome.ts';
import { createZoe } from '../things.ts';
import { derive } from './derive.ts';

const OTHER: ModelInfo = { ...SCRIPTED_MODEL, id: 'other', name: 'Other', supportsThinking: true };

/** Two chat models, mail tools and every switch on. */
export const chatModels =
  (onCall: (call: ModelCall) => void = sayAtOnce('Hello.')) =>
  (): TestAppOptions => ({
    models: [createScriptedProvider(onCall, [SCRIPTED_MODEL, OTHER])],
    settings: {
      admin: { DefaultAPIModel: 'scripted', EnableDataLakes: true, EnableArtifacts: true },
      tools: [createMailTools().tools],
    },
  });

const HI = { role: 'user', content: 'Hi' };
const tool = (name: string) => ({ toolSchema: { name, description: name, parameters: { type: 'object' } } });
const tools = [tool('look'), tool('touch')];
const called = [
  HI,
  {
    role: 'assistant',
    content: [
      { type: 'tool_use', id: 'call_1', name: 'look', input: {} },
      { type: 'tool_use', id: 'call_2', name: 'touch', input: {} },
    ],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'seen' }] },
];
const PNG = Buffer.from('a picture').toString('base64');
const picture = (part: object) => [{ role: 'user', content: [part] }];

const completions = [
  { messages: [HI], tools },
  { messages: called, tools },
  { messages: picture({ type: 'image_url', image_url: { url: `data:image/gif;base64,${PNG}` } }) },
  { messages: picture({ type: 'input_image', image_url: `data:image/gif;base64,${PNG}` }) },
  { messages: [HI], options: { tools } },
  { messages: [HI], options: { response_format: { type: 'json_object' } } },
  { messages: [HI], tools, tool_choice: { name: 'look' } },
  { messages: [HI], tools, toolChoice: { name: 'look' } },
  { messages: [HI], tools, options: { tool_choice: { name: 'look' } } },
  { messages: [HI], tools, options: { toolChoice: { name: 'look' } } },
];
const stored = async (app: TestApp): Promise<number> => {
  const { key } = await app.issue({ scopes: ['ai:chat'] });
  const path = '/api/ai/v1/completions/wire-1/events?after=end';
  return (await app.ask('GET', path, { credential: key })).status;
};

const CLIENT_TOOL = { name: 'locate', description: 'Finds it.', parameters: { type: 'object' } };

/** A session with messages, an agent and a memento. */
async function prepare(app: TestApp): Promise<string> {
  const sessionId = await createAnsweredSession(app);
  await createZoe(app);
  await addMemento(app, { id: '7'.repeat(24), text: 'The user keeps bees.', isStanding: true });
  return sessionId;
}

const chat: readonly Setup[] = [
  {
    app: chatModels(),
    caller: 'token',
    ask: async (app) => {
      await createAnsweredSession(app);
      return { body: { message: 'Hi' } };
    },
  },
  { app: chatModels(), ask: { body: { message: 'Hi' } } },
  {
    app: chatModels(),
    ask: async (app) => ({
      body: { message: 'Dear @zoe, roll a dice and send a mail about bees.', sessionId: await prepare(app) },
    }),
  },
  {
    app: chatModels(),
    ask: async (app) => ({
      body: { message: 'Ask @zoe', sessionId: await prepare(app), enableTools: true, enableAgents: true },
    }),
  },
  {
    app: chatModels(callOnce()),
    ask: async (app) => ({
      body: { message: 'Send a mail', sessionId: await makeSession(app, app.user), enableTools: true },
    }),
  },
  {
    app: chatModels(),
    ask: { body: { message: 'Hi', enableTools: true, approvals: true, clientTools: [CLIENT_TOOL] } },
  },
];

/** A quest that waits for the client to decide about a call. */
const deciding = (onCall: (call: ModelCall) => void, decision: object): Setup => ({
  app: chatModels(onCall),
  ask: async (app) => {
    const { key } = await app.issue({ scopes: ['ai:chat'] });
    const body = { message: 'Hi', enableTools: true, approvals: true, clientTools: [CLIENT_TOOL] };
    const answer = await app.ask('POST', '/api/chat', { body, credential: key });
    const { id } = (await answer.json()) as { id: string };
    await app.api.start();
    await app.settle();
    return { path: `/api/v1/quests/${id}/decisions`, body: { decisions: [{ callId: '1.0', ...decision }] } };
  },
});

const running = (onCall?: (call: ModelCall) => void, more: object = {}): Setup => ({
  app: chatModels(onCall),
  ask: async (app) => ({ body: { session_id: await prepare(app), message: 'Send a mail', ...more } }),
});

const web: TestAppOptions['web'] = {
  search: async () => [],
  fetchPage: async (url, offset) => ({ url, title: null, text: url, offset, nextOffset: null }),
  weather: async (_place, units) => ({
    description: 'clear',
    temperature: 1,
    feelsLike: 1,
    humidity: 1,
    windSpeed: 1,
    units,
  }),
};

const infer = { model: 'scripted', messages: [HI] };

/** Operations that call chat models and tools. */
export const MODELS: Readonly<Record<string, readonly Setup[]>> = {
  sendChatMessage: chat,
  createCompletion: completions.map((more) => ({
    app: chatModels(),
    ask: { body: { model: 'scripted', ...('options' in more ? {} : { max_tokens: 9000 }), ...more } },
    afterwards: stored,
  })),
  infer: [{ app: chatModels(), ask: { body: infer } }],
  decideQuestCalls: [
    deciding(callOnce(), { decision: 'approve' }),
    deciding(callOnce(), { decision: 'reject', reason: 'No' }),
    deciding(callOnce(), { decision: 'edit', input: { to: 'eve@example.com' } }),
    deciding(callOnce('locate', {}), { decision: 'answer', output: 'Here' }),
  ],
  executeTool: [
    { app: () => ({ web }), ask: { body: { toolName: 'weather_info', input: { lat: 59.9, lon: 10.7 } } } },
    { app: () => ({ web }), ask: { body: { toolName: 'web_fetch', input: { url: 'https://one.example' } } } },
  ],
  startAgentExecution: [
    running(),
    running(undefined, { model: 'other', max_tokens: 9000 }),
    running(callOnce()),
    running(callOnce(), { tools: ['send_mail'] }),
  ],
  createEmbeddings: [derive('createEmbeddings', {})],
};
