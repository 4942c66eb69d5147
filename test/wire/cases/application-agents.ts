import { ProviderError } from '@questline/core/ports';
import { addAgent } from '../../support/agents.ts';
import { sayAtOnce } from '../../support/chat.ts';
import type { TestApp, TestAppOptions } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
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

const agent = (app: TestApp, change: object = {}) => ({
  id: AN_ID,
  ...WISH,
  personality: { ...PERSONALITY, ...WISH.personality },
  triggerWords: ['@grace'],
  publication: 'pending',
  ownerId: app.user.id,
  createdAt: AT_NOON,
  updatedAt: AT_NOON,
  ...change,
});

/** An agent of the user, or of another user. */
const having =
  (asked: (id: string) => Partial<Asked>, { isPublic = false, foreign = false } = {}) =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    const owner = foreign ? await app.addUser('bob@example.com') : app.user;
    await addAgent(app, { id: GRACE, ownerId: owner.id, name: 'Grace', isPublic });
    return asked(GRACE);
  };

const stored = (app: TestApp, change: object = {}) =>
  agent(app, {
    description: '',
    avatarUrl: null,
    personality: PERSONALITY,
    capabilities: [],
    isPublic: false,
    publication: 'private',
    ...change,
  });

const NOT_FOUND = refused('application', {
  status: 404,
  code: 'AGENT_NOT_FOUND',
  message: 'Agent not found',
});
const unknown = (body?: object): WireCase => ({
  title: 'answers 404 for an unknown agent',
  ...(body !== undefined && { ask: { body } }),
  ...NOT_FOUND,
});
const foreign = (asked: (id: string) => Partial<Asked>): readonly WireCase[] => [
  {
    title: 'answers 404 for a private agent of another user',
    ask: having(asked, { foreign: true }),
    ...NOT_FOUND,
  },
];
const denied = (asked: (id: string) => Partial<Asked>): readonly WireCase[] => [
  ...foreign(asked),
  {
    title: 'rejects a public agent of another user',
    ask: having(asked, { foreign: true, isPublic: true }),
    ...refused('application', {
      status: 403,
      code: 'AGENT_ACCESS_DENIED',
      message: 'Only its owner may change this agent',
    }),
  },
];
const switchedOff = (asked: Partial<Asked> = {}): WireCase => ({
  title: 'rejects while agents are disabled',
  app: (): TestAppOptions => ({ settings: { admin: { EnableAgents: false } } }),
  ask: asked,
  ...refused('application', { status: 403, message: 'Agents are switched off' }),
});
const invalid = (title: string, body: object, path: string, message: string): WireCase => ({
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
  {
    title: 'lists no agents at first',
    status: 200,
    body: { agents: [], pagination: page(0) },
    everywhere: true,
  },
  {
    title: 'lists agents at its literal path',
    ask: having(() => ({ path: '/agents?search=GRA&owned=true' })),
    status: 200,
    body: (app) => ({ agents: [stored(app)], pagination: page(1) }),
  },
  {
    title: 'rejects an unknown order',
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
    title: 'creates an agent and ignores fields set by the server',
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
    body: (app) => agent(app),
    everywhere: true,
  },
  {
    title: 'creates an agent at its literal path',
    ask: { path: '/agents', body: WISH },
    status: 201,
    body: (app) => agent(app),
  },
  {
    title: 'rejects more agents than the maximum',
    app: (): TestAppOptions => ({ settings: { admin: { MaxAgentsPerUser: 1 } } }),
    ask: having(() => ({ body: WISH })),
    ...refused('application', {
      status: 429,
      code: 'AGENT_LIMIT_EXCEEDED',
      message: 'You have reached the maximum of 1 agents',
    }),
  },
  invalid('without a name', {}, 'name', 'is required'),
  invalid(
    'with an invalid image address',
    { ...WISH, avatarUrl: 'javascript:alert(1)' },
    'avatarUrl',
    'expected an http or https address, got 19 characters of text',
  ),
  switchedOff({ body: WISH }),
];

export const getApplicationAgent: readonly WireCase[] = [
  {
    title: 'returns an agent',
    ask: having((id) => ({ path: `${PATH}/${id}` })),
    status: 200,
    body: (app) => stored(app),
    everywhere: true,
  },
  ...foreign((id) => ({ path: `/agents/${id}` })),
  unknown(),
  switchedOff(),
];

export const updateApplicationAgent: readonly WireCase[] = [
  {
    title: 'changes the description',
    ask: having((id) => ({ path: `${PATH}/${id}`, body: { description: 'Counts.' } })),
    status: 200,
    body: (app) => stored(app, { description: 'Counts.' }),
  },
  {
    title: 'changes the named fields',
    ask: having((id) => ({
      path: `/agents/${id}`,
      body: { personality: { uniqueQuirk: 'Bugs' }, ownerId: 'x', isPublic: true },
    })),
    status: 200,
    body: (app) =>
      stored(app, {
        isPublic: true,
        publication: 'pending',
        personality: { ...PERSONALITY, uniqueQuirk: 'Bugs' },
      }),
    everywhere: true,
  },
  ...denied((id) => ({ path: `${PATH}/${id}`, body: { name: 'Mine' } })),
  unknown({ name: 'Mine' }),
  invalid('no name', { name: '' }, 'name', 'expected at least 1 character, got 0 characters of text'),
  switchedOff({ body: {} }),
];

export const deleteApplicationAgent: readonly WireCase[] = [
  {
    title: 'deletes an agent',
    ask: having((id) => ({ path: `${PATH}/${id}/delete` })),
    status: 200,
    body: { message: 'The agent is deleted', deletedAt: AT_NOON },
    everywhere: true,
  },
  ...denied((id) => ({ path: `/agents/${id}/delete` })),
  unknown(),
  {
    title: 'rejects a body',
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
    title: 'proposes a description for an agent',
    app: chatting(sayAtOnce(' Grace counts. ')),
    ask: having((id) => ({ path: `${PATH}/${id}/generate-description` })),
    status: 200,
    body: { description: 'Grace counts.', generatedAt: AT_NOON },
  },
  {
    title: 'proposes an agent',
    app: chatting(sayAtOnce(' Grace counts. ')),
    ask: having(describing),
    status: 200,
    body: { description: 'Grace counts.', generatedAt: AT_NOON },
  },
  {
    title: 'rejects a caller without credit',
    app: chatting(undefined, { credits: 0 }),
    ask: having(describing),
    ...refused('application', {
      status: 422,
      code: 'INSUFFICIENT_CREDITS',
      message:
        'Insufficient credits. You have 0 credits, but this request requires approximately 5.87 credits.',
    }),
  },
  {
    title: 'rejects a request without a usable model',
    ask: having(describing),
    ...refused('application', {
      status: 422,
      message: 'No usable model to write the description; set a default model',
    }),
  },
  {
    title: 'rejects a provider without a key',
    app: failing('not_configured'),
    ask: having(describing),
    ...refused('application', {
      status: 503,
      code: 'PROVIDER_ERROR',
      message: 'No key is configured for this model provider.',
    }),
  },
  {
    title: 'reports a provider that does not answer',
    app: failing('timeout'),
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
