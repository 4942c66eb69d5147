import { ProviderError } from '@questline/core';
import { addAgent } from '../../support/agents.ts';
import { sayAtOnce } from '../../support/chat.ts';
import type { Asked } from '../../support/wire.ts';
import type { World, WorldOptions } from '../../support/world.ts';
import { refused, type WireCase } from './case.ts';
import { AN_ID, AT_NOON, chatting } from './chat.ts';

const PATH = '/api/agents';
const GRACE = 'a'.repeat(24);
const PERSONALITY = {
  majorMotivation: '',
  minorMotivation: '',
  characterFlaw: '',
  uniqueQuirk: '',
  responseStyle: '',
};
const WISH = {
  name: 'Grace',
  description: 'Counts.',
  avatarUrl: 'https://example.com/grace.png',
  personality: { characterFlaw: 'Impatience' },
  capabilities: ['compilers'],
  triggerWords: ['Grace', '@grace'],
  isPublic: true,
};

const agent = (world: World, change: object = {}) => ({
  id: AN_ID,
  ...WISH,
  personality: { ...PERSONALITY, ...WISH.personality },
  triggerWords: ['@grace'],
  ownerId: world.user.id,
  createdAt: AT_NOON,
  updatedAt: AT_NOON,
  ...change,
});

/** An agent of the user's own, or of somebody else's. */
const having =
  (asked: (id: string) => Partial<Asked>, { isPublic = false, foreign = false } = {}) =>
  async (world: World): Promise<Partial<Asked>> => {
    const owner = foreign ? await world.addUser('bob@example.com') : world.user;
    await addAgent(world, { id: GRACE, ownerId: owner.id, name: 'Grace', isPublic });
    return asked(GRACE);
  };

const stored = (world: World, change: object = {}) =>
  agent(world, {
    description: '',
    avatarUrl: null,
    personality: PERSONALITY,
    capabilities: [],
    isPublic: false,
    ...change,
  });

const NOT_FOUND = refused('application', {
  status: 404,
  code: 'AGENT_NOT_FOUND',
  message: 'Agent not found',
});
const unknown = (body?: object): WireCase => ({
  title: 'an unknown one',
  ...(body !== undefined && { ask: { body } }),
  ...NOT_FOUND,
});
const foreign = (asked: (id: string) => Partial<Asked>): readonly WireCase[] => [
  { title: "somebody else's private one", ask: having(asked, { foreign: true }), ...NOT_FOUND },
];
const denied = (asked: (id: string) => Partial<Asked>): readonly WireCase[] => [
  ...foreign(asked),
  {
    title: "somebody else's public one",
    ask: having(asked, { foreign: true, isPublic: true }),
    ...refused('application', {
      status: 403,
      code: 'AGENT_ACCESS_DENIED',
      message: 'Only its owner may change this agent',
    }),
  },
];
const switchedOff = (asked: Partial<Asked> = {}): WireCase => ({
  title: 'while agents are switched off',
  world: (): WorldOptions => ({ settings: { admin: { EnableAgents: false } } }),
  ask: asked,
  ...refused('application', { status: 403, message: 'Agents are switched off' }),
});
const faulty = (title: string, body: object, path: string, message: string): WireCase => ({
  title,
  ask: { body },
  ...refused('application', {
    status: 400,
    code: 'INVALID_AGENT_DATA',
    message: `${path}: ${message}`,
    details: [{ path, message }],
  }),
});

const page = (total: number) => ({
  page: 1,
  limit: 20,
  total,
  pages: Math.ceil(total / 20),
  totalPages: Math.ceil(total / 20),
  hasNext: false,
  hasPrev: false,
});

export const listApplicationAgents: readonly WireCase[] = [
  { title: 'is empty at first', status: 200, body: { agents: [], pagination: page(0) }, everywhere: true },
  {
    title: 'lists at its literal path',
    ask: having(() => ({ path: '/agents?search=GRA&owned=true' })),
    status: 200,
    body: (world) => ({ agents: [stored(world)], pagination: page(1) }),
  },
  {
    title: 'in an order there is not',
    ask: { path: `${PATH}?sort=price` },
    ...refused('application', {
      status: 422,
      message:
        'sort: Invalid option: expected one of "createdAt"|"updatedAt"|"name", got 5 characters of text',
      details: [
        {
          path: 'sort',
          message: 'Invalid option: expected one of "createdAt"|"updatedAt"|"name", got 5 characters of text',
        },
      ],
    }),
  },
  switchedOff(),
];

export const createApplicationAgent: readonly WireCase[] = [
  {
    title: 'creates one, and takes nothing a server decides',
    ask: {
      body: {
        ...WISH,
        ownerId: 'f'.repeat(24),
        readerIds: ['f'.repeat(24)],
        writerIds: ['f'.repeat(24)],
        id: 'f'.repeat(24),
        createdAt: '2020-01-01T00:00:00.000Z',
        systemPrompt: 'x',
        isAdmin: true,
        credits: 7,
      },
    },
    status: 201,
    body: (world) => agent(world),
    everywhere: true,
  },
  {
    title: 'at its literal path',
    ask: { path: '/agents', body: WISH },
    status: 201,
    body: (world) => agent(world),
  },
  {
    title: 'more than there may be',
    world: (): WorldOptions => ({ settings: { admin: { MaxAgentsPerUser: 1 } } }),
    ask: having(() => ({ body: WISH })),
    ...refused('application', {
      status: 429,
      code: 'AGENT_LIMIT_EXCEEDED',
      message: 'You have 1 agents, as many as there may be',
    }),
  },
  faulty('without a name', {}, 'name', 'Invalid input: expected string, received undefined'),
  faulty(
    'with an address that is none',
    { ...WISH, avatarUrl: 'javascript:alert(1)' },
    'avatarUrl',
    'expected an http or https address, got 19 characters of text',
  ),
  switchedOff({ body: WISH }),
];

export const getApplicationAgent: readonly WireCase[] = [
  {
    title: 'shows one',
    ask: having((id) => ({ path: `${PATH}/${id}` })),
    status: 200,
    body: (world) => stored(world),
    everywhere: true,
  },
  ...foreign((id) => ({ path: `/agents/${id}` })),
  unknown(),
  switchedOff(),
];

export const updateApplicationAgent: readonly WireCase[] = [
  {
    title: 'changes what is named',
    ask: having((id) => ({
      path: `/agents/${id}`,
      body: { personality: { uniqueQuirk: 'Bugs' }, ownerId: 'x', isPublic: true },
    })),
    status: 200,
    body: (world) => stored(world, { isPublic: true, personality: { ...PERSONALITY, uniqueQuirk: 'Bugs' } }),
    everywhere: true,
  },
  ...denied((id) => ({ path: `${PATH}/${id}`, body: { name: 'Mine' } })),
  unknown({ name: 'Mine' }),
  faulty('no name', { name: '' }, 'name', 'expected at least 1 character, got 0 characters of text'),
  switchedOff({ body: {} }),
];

export const deleteApplicationAgent: readonly WireCase[] = [
  {
    title: 'deletes one',
    ask: having((id) => ({ path: `${PATH}/${id}/delete` })),
    status: 200,
    body: { message: 'The agent is deleted', deletedAt: AT_NOON },
    everywhere: true,
  },
  ...denied((id) => ({ path: `/agents/${id}/delete` })),
  unknown(),
  {
    title: 'with a body',
    ask: { body: {} },
    ...refused('application', { status: 400, message: 'DELETE takes no request body' }),
  },
  switchedOff(),
];

const describing = (id: string): Partial<Asked> => ({ path: `/agents/${id}/generate-description` });
const failing = (kind: ConstructorParameters<typeof ProviderError>[0]) =>
  chatting(() => {
    throw new ProviderError(kind, 'secret words');
  });

export const generateAgentDescription: readonly WireCase[] = [
  {
    title: 'proposes one',
    world: chatting(sayAtOnce(' Grace counts. ')),
    ask: having(describing),
    status: 200,
    body: { description: 'Grace counts.', generatedAt: AT_NOON },
  },
  {
    title: 'without credit',
    world: chatting(undefined, { credits: 0 }),
    ask: having(describing),
    ...refused('application', {
      status: 422,
      code: 'INSUFFICIENT_CREDITS',
      message:
        'Insufficient credits. You have 0 credits, but this request requires approximately 5.67 credits.',
    }),
  },
  {
    title: 'without a model',
    ask: having(describing),
    ...refused('application', {
      status: 422,
      message: 'There is no model to write the description; set a default model',
    }),
  },
  {
    title: 'with a provider that has no key',
    world: failing('not_configured'),
    ask: having(describing),
    ...refused('application', {
      status: 503,
      code: 'PROVIDER_ERROR',
      message: 'No key is configured for this model provider.',
    }),
  },
  {
    title: 'with a provider that does not answer',
    world: failing('timeout'),
    ask: having(describing),
    ...refused('application', {
      status: 502,
      code: 'PROVIDER_ERROR',
      message: 'The model gave no answer: the provider did not answer in time.',
    }),
  },
  ...foreign(describing),
  unknown(),
  switchedOff(),
];
