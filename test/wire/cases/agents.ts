import type { Asked } from '../../support/wire.ts';
import type { World, WorldOptions } from '../../support/world.ts';
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

async function create(world: World): Promise<string> {
  const { key } = await world.issue({ scopes: ['agents:write'] });
  const answer = await world.ask('POST', PATH, { body: WISH, credential: key });
  return ((await answer.json()) as { id: string }).id;
}

const ofAgent =
  (body?: object) =>
  async (world: World): Promise<Partial<Asked>> => ({
    path: `${PATH}/${await create(world)}`,
    ...(body !== undefined && { body }),
  });

const unknown = (body?: object): WireCase => ({
  title: 'an unknown one',
  ...(body !== undefined && { ask: { body } }),
  ...refused('public', { status: 404, message: 'Agent not found' }),
});
const switchedOff = (body?: object): WireCase => ({
  title: 'while agents are switched off',
  world: (): WorldOptions => ({ settings: { admin: { EnableAgents: false } } }),
  ...(body !== undefined && { ask: { body } }),
  ...refused('public', { status: 403, message: 'Agents are switched off' }),
});
const faulty = (title: string, change: object, message: string): WireCase => ({
  title,
  ask: { body: { ...WISH, ...change } },
  ...refused('public', { status: 422, message }),
});

export const listAgents: readonly WireCase[] = [
  { title: 'is empty at first', status: 200, body: { data: [], next_cursor: null }, everywhere: true },
  {
    title: 'lists what the caller has',
    ask: async (world) => {
      await create(world);
      return {};
    },
    status: 200,
    body: { data: [agent()], next_cursor: null },
  },
  switchedOff(),
];

export const createAgent: readonly WireCase[] = [
  { title: 'creates one', ask: { body: WISH }, status: 201, body: agent(), everywhere: true },
  {
    title: 'creates one of nothing but a name',
    ask: { body: { name: 'Ada' } },
    status: 201,
    body: agent({ name: 'Ada', system_prompt: null, temperature: null, trigger_words: [] }),
  },
  {
    title: 'more than there may be',
    world: (): WorldOptions => ({ settings: { admin: { MaxAgentsPerUser: 1 } } }),
    ask: async (world) => {
      await create(world);
      return { body: WISH };
    },
    ...refused('public', {
      status: 400,
      errorCode: 'agent_limit_reached',
      message: 'You have 1 agents, as many as there may be',
    }),
  },
  faulty('too warm', { temperature: 2.1 }, 'temperature: Too big: expected number to be <=2, got 2.1'),
  faulty(
    'too many tokens',
    { max_tokens: 128_001 },
    'max_tokens: Too big: expected number to be <=128000, got 128001',
  ),
  faulty('no tokens', { max_tokens: 0 }, 'max_tokens: Too small: expected number to be >=1, got 0'),
  faulty(
    'a trigger of two words',
    { trigger_words: ['a b'] },
    'trigger_words.0: expected letters, digits, _ or -, with or without a leading @, got 3 characters of text',
  ),
  faulty('an owner', { is_owner: true }, 'Unrecognized key: "is_owner"'),
  switchedOff(WISH),
];

export const getAgent: readonly WireCase[] = [
  { title: 'shows one', ask: ofAgent(), status: 200, body: agent(), everywhere: true },
  unknown(),
  switchedOff(),
];

export const updateAgent: readonly WireCase[] = [
  {
    title: 'changes what is named, and unsets with null',
    ask: ofAgent({ temperature: null, max_tokens: 5, denied_tools: ['web_search'] }),
    status: 200,
    body: agent({ temperature: null, max_tokens: 5, denied_tools: ['web_search'] }),
    everywhere: true,
  },
  faulty('no name', { name: null }, 'name: Invalid input: expected string, received null, got null'),
  unknown({ name: 'Ada' }),
  switchedOff({ name: 'Ada' }),
];

export const deleteAgent: readonly WireCase[] = [
  { title: 'deletes one', ask: ofAgent(), status: 204, body: '', everywhere: true },
  unknown(),
  switchedOff(),
];
