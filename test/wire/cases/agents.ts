import type { TestApp, TestAppOptions } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { refused, type WireCase } from './case.ts';
import { AN_ID, AT_NOON } from './chat.ts';

const PATH = '/api/v1/agents';
const WISH = { name: 'Grace', system_prompt: 'Count.', temperature: 0.5, trigger_words: ['Grace', '@GH'] };

const agent = (change: object = {}) => ({
  id: AN_ID,
  name: 'Grace',
  description: '',
  system_prompt: 'Count.',
  preferred_model: null,
  temperature: 0.5,
  max_tokens: null,
  allowed_tools: null,
  denied_tools: null,
  trigger_words: ['@grace', '@gh'],
  is_owner: true,
  created_at: AT_NOON,
  updated_at: AT_NOON,
  ...change,
});

async function create(app: TestApp): Promise<string> {
  const { key } = await app.issue({ scopes: ['agents:write'] });
  const answer = await app.ask('POST', PATH, { body: WISH, credential: key });
  return ((await answer.json()) as { id: string }).id;
}

const ofAgent =
  (body?: object) =>
  async (app: TestApp): Promise<Partial<Asked>> => ({
    path: `${PATH}/${await create(app)}`,
    ...(body !== undefined && { body }),
  });

const unknown = (body?: object): WireCase => ({
  title: 'answers 404 for an unknown agent',
  ...(body !== undefined && { ask: { body } }),
  ...refused('public', { status: 404, message: 'Agent not found' }),
});
const switchedOff = (body?: object): WireCase => ({
  title: 'rejects while agents are disabled',
  app: (): TestAppOptions => ({ settings: { admin: { EnableAgents: false } } }),
  ...(body !== undefined && { ask: { body } }),
  ...refused('public', { status: 403, message: 'Agents are switched off' }),
});
const invalid = (title: string, change: object, message: string): WireCase => ({
  title,
  ask: { body: { ...WISH, ...change } },
  ...refused('public', { status: 422, message }),
});

export const listAgents: readonly WireCase[] = [
  { title: 'lists no agents at first', status: 200, body: { data: [], next_cursor: null }, everywhere: true },
  {
    title: 'lists the agents of the caller',
    ask: async (app) => {
      await create(app);
      return {};
    },
    status: 200,
    body: { data: [agent()], next_cursor: null },
  },
  switchedOff(),
];

export const createAgent: readonly WireCase[] = [
  { title: 'creates an agent', ask: { body: WISH }, status: 201, body: agent(), everywhere: true },
  {
    title: 'creates an agent from a name only',
    ask: { body: { name: 'Ada' } },
    status: 201,
    body: agent({ name: 'Ada', system_prompt: null, temperature: null, trigger_words: [] }),
  },
  {
    title: 'rejects more agents than the maximum',
    app: (): TestAppOptions => ({ settings: { admin: { MaxAgentsPerUser: 1 } } }),
    ask: async (app) => {
      await create(app);
      return { body: WISH };
    },
    ...refused('public', {
      status: 400,
      errorCode: 'agent_limit_reached',
      message: 'You have reached the maximum of 1 agents',
    }),
  },
  invalid('too warm', { temperature: 2.1 }, 'temperature: Too big: expected number to be <=2, got 2.1'),
  invalid(
    'too many tokens',
    { max_tokens: 128_001 },
    'max_tokens: Too big: expected number to be <=128000, got 128001',
  ),
  invalid('no tokens', { max_tokens: 0 }, 'max_tokens: Too small: expected number to be >=1, got 0'),
  invalid(
    'a trigger word with a space',
    { trigger_words: ['a b'] },
    'trigger_words.0: expected letters, digits, _ or -, with or without a leading @, got 3 characters of text',
  ),
  invalid('an owner', { is_owner: true }, 'Unrecognized key: "is_owner"'),
  switchedOff(WISH),
];

export const getAgent: readonly WireCase[] = [
  { title: 'returns an agent', ask: ofAgent(), status: 200, body: agent(), everywhere: true },
  unknown(),
  switchedOff(),
];

export const updateAgent: readonly WireCase[] = [
  {
    title: 'changes the named fields and unsets with null',
    ask: ofAgent({ temperature: null, max_tokens: 5, denied_tools: ['web_search'] }),
    status: 200,
    body: agent({ temperature: null, max_tokens: 5, denied_tools: ['web_search'] }),
    everywhere: true,
  },
  invalid('no name', { name: null }, 'name: expected string, got null'),
  unknown({ name: 'Ada' }),
  switchedOff({ name: 'Ada' }),
];

export const deleteAgent: readonly WireCase[] = [
  { title: 'deletes an agent', ask: ofAgent(), status: 204, body: '', everywhere: true },
  unknown(),
  switchedOff(),
];
