import { createMcpApi } from '@questline/mcp-server';
import { saveFile } from '../support/lakes.ts';
import { findLake, findSession, signIn, toHandler, whileWorking, workJob } from './app.ts';
import type {
  GuardedApp,
  GuardedWire,
  Outcome,
  ServedOperation,
  WireOperation,
  WireRequest,
} from './wire.ts';

/** The operation of the API that each tool is. */
const COUNTERPARTS: Readonly<Record<string, string>> = {
  ask_agent: 'startAgentExecution',
  get_agent_answer: 'getAgentExecution',
  list_agents: 'listAgents',
  list_sessions: 'listSessions',
  read_session: 'listSessionMessages',
  list_data_lakes: 'listDataLakes',
  search_data_lake: 'searchDataLake',
  list_files: 'listFiles',
  read_file: 'getFile',
  list_models: 'listModels',
  list_skills: 'listSkills',
  read_skill: 'listSkills',
  generate_image: 'generateImage',
  get_image: 'getQuest',
  generate_video: 'createVideoGeneration',
  get_video: 'getVideoGeneration',
  list_video_models: 'listVideoModels',
};

async function post(request: Pick<WireRequest, 'app' | 'handle' | 'credential' | 'headers'>, body: object) {
  const { app, handle, credential, headers } = request;
  const sent = new Request('http://questline.test/mcp', {
    method: 'POST',
    headers: {
      ...(credential !== null && { Authorization: `Bearer ${credential}` }),
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
  });
  const response = await whileWorking(app, handle(sent));
  return { response, answer: JSON.parse(await response.text()) };
}

/** @param toArguments of the tool. */
function tool(
  id: string,
  toArguments: (request: WireRequest) => object,
  rest: Omit<WireOperation, 'id' | 'title' | 'send'>,
): WireOperation {
  return {
    ...rest,
    id,
    title: id,
    async send(request): Promise<Outcome> {
      const params = { name: id, arguments: toArguments(request) };
      const { response, answer } = await post(request, { method: 'tools/call', params });
      const { result, error } = answer;
      const isRefused = error !== undefined || result.isError === true;
      const text = error?.message ?? result.content[0]?.text ?? '';
      // Refusals of tools are results, which the model of the client reads.
      return {
        status: isRefused && response.status === 200 ? 400 : response.status,
        name: null,
        text: isRefused ? text : JSON.stringify(result),
        headers: response.headers,
      };
    },
  };
}

const FREE = { none: 'free, and writes nothing' } as const;

const createSession = async (app: GuardedApp): Promise<string> => findSession(app, await app.token());

async function createExecution(app: GuardedApp): Promise<string> {
  const body = { session_id: await createSession(app), message: 'Hi' };
  const { id } = (await app.json('POST', '/api/v1/agent-executions', { body })).body;
  await workJob(app, `/api/v1/agent-executions/${id}`, await app.token());
  return id;
}

async function createImageQuest(app: GuardedApp): Promise<string> {
  const body = { model: 'painter', prompt: 'x' };
  const { id } = (await app.json('POST', '/api/v1/image-generations', { body })).body;
  await workJob(app, `/api/v1/quests/${id}`, await app.token());
  return id;
}

const VIDEOS = '/api/v1/video-generations';

async function createVideo(app: GuardedApp): Promise<string> {
  const body = { model: 'director', prompt: 'x', duration_seconds: 4 };
  const { id } = (await app.json('POST', VIDEOS, { body })).body;
  await workJob(app, `${VIDEOS}/${id}`, await app.token());
  return id;
}

/** Waits for the video that the tool has started. */
function video(one: WireOperation): WireOperation {
  return {
    ...one,
    async send(request) {
      const outcome = await one.send(request);
      const [, id] = /"generation_id":"(\w+)"/.exec(outcome.text) ?? [];
      if (id !== undefined) {
        await workJob(request.app, `${VIDEOS}/${id}`, await signIn(request.app, request.credential));
      }
      return outcome;
    },
  };
}

export const MCP: GuardedWire = {
  name: 'MCP',
  mountPath: '/mcp',
  package: 'mcp-server',
  createApi: ({ services }) => createMcpApi(services),
  async list(app) {
    const api = createMcpApi(app.services);
    const handle = toHandler(api, '/mcp');
    const { answer } = await post(
      { app, handle, credential: await app.token(), headers: {} },
      { method: 'tools/list' },
    );
    return answer.result.tools.map(({ name }: { name: string }): ServedOperation => {
      const counterpart = COUNTERPARTS[name] ?? '';
      const route = app.api.routes.find(({ operation }) => operation.id === counterpart);
      return {
        id: name,
        counterpart,
        isPaid: route?.operation.paid === true,
        isIdempotent: route?.operation.idempotent === true,
        needsScope: true,
      };
    });
  },
  operations: [
    tool(
      'ask_agent',
      ({ text, fileId, headers, subject }) => ({
        message: text,
        ...(fileId !== undefined && { file_ids: [fileId] }),
        ...(headers['Idempotency-Key'] !== undefined && { session_id: subject }),
      }),
      { repeat: 'replayed', file: 'input', prepare: createSession },
    ),
    tool('generate_image', ({ text }) => ({ prompt: text }), { repeat: 'replayed' }),
    video(
      tool('generate_video', ({ text }) => ({ model: 'director', prompt: text, duration_seconds: 4 }), {
        repeat: 'replayed',
      }),
    ),
    tool('get_video', ({ subject }) => ({ generation_id: subject }), { repeat: FREE, prepare: createVideo }),
    tool('list_video_models', () => ({}), { repeat: FREE }),
    tool('search_data_lake', ({ subject, text }) => ({ lake_id: subject, query: text }), {
      repeat: { none: 'as `searchDataLake`, which has no `Idempotency-Key`' },
      prepare: findLake,
      usesServerModel: true,
    }),
    tool('get_agent_answer', ({ subject }) => ({ execution_id: subject }), {
      repeat: FREE,
      prepare: createExecution,
    }),
    tool('get_image', ({ subject }) => ({ quest_id: subject }), { repeat: FREE, prepare: createImageQuest }),
    tool('list_agents', () => ({}), { repeat: FREE }),
    tool('list_sessions', () => ({}), { repeat: FREE }),
    tool('read_session', ({ subject }) => ({ session_id: subject }), {
      repeat: FREE,
      prepare: createSession,
    }),
    tool('list_data_lakes', () => ({}), { repeat: FREE }),
    tool('list_files', () => ({}), { repeat: FREE }),
    tool('read_file', ({ subject }) => ({ file_id: subject }), {
      repeat: FREE,
      file: 'subject',
      prepare: (app) => saveFile(app, 'x'),
    }),
    tool('list_skills', () => ({}), { repeat: FREE }),
    tool('read_skill', () => ({ skill_id: 'letter' }), { repeat: FREE }),
    tool('list_models', () => ({}), { repeat: FREE, listsModels: true }),
  ],
  refusals: {
    credential: { status: 401 },
    twoKeys: { status: 401 },
    scope: { text: /does not have the scopes/ },
    window: { text: /rate limit/i },
    credit: { text: /credit/i },
    cap: { text: /cap/i },
    budget: { text: /budget/i },
    daily: { text: /Daily limit/ },
    hiddenModel: { text: /model/i },
    listedModel: { text: /model/i },
    file: { text: /./ },
    switchedOff: { text: /Unknown tool/ },
    reusedKey: { text: /used with another body/ },
    shutdown: { text: /try again in/ },
  },
  forbidsRetries: false,
};
