import { addAgent } from '../../support/agents.ts';
import { asAdmin } from '../../support/people.ts';
import type { TestApp, TestAppOptions } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { onePage, refused, type WireCase } from './case.ts';
import { AT_NOON } from './chat.ts';

const PATH = '/api/agents';
const GRACE = 'a'.repeat(24);
const PERSONALITY = {
  majorMotivation: '',
  minorMotivation: '',
  characterFlaw: '',
  uniqueQuirk: '',
  responseStyle: '',
};
const AS_READ = { updatedAt: AT_NOON };

const agent = (app: TestApp, publication: string) => ({
  id: GRACE,
  name: 'Grace',
  description: '',
  avatarUrl: null,
  personality: PERSONALITY,
  capabilities: [],
  triggerWords: ['@grace'],
  isPublic: true,
  publication,
  ownerId: app.user.id,
  createdAt: AT_NOON,
  updatedAt: AT_NOON,
});

/** An agent, submitted for publication or not, and a request of an administrator. */
const having =
  (asked: Partial<Asked>, isPublic = true) =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    await addAgent(app, {
      id: GRACE,
      name: 'Grace',
      isPublic,
      publication: undefined,
      systemPrompt: 'Count.',
      deniedTools: ['dice_roll'],
    });
    return asAdmin(asked)(app);
  };

const notAdmin = (body?: object): WireCase => ({
  title: 'rejects a user who is not an administrator',
  ...(body !== undefined && { ask: { body } }),
  ...refused('application', { status: 403, message: 'Administrators only' }),
});
const switchedOff = (asked: Partial<Asked> = {}): WireCase => ({
  title: 'rejects while agents are disabled',
  app: (): TestAppOptions => ({ settings: { admin: { EnableAgents: false } } }),
  ask: asAdmin(asked),
  ...refused('application', { status: 403, message: 'Agents are switched off' }),
});
const missing = (title: string, ask: NonNullable<WireCase['ask']>): WireCase => ({
  title,
  ask,
  ...refused('application', { status: 404, code: 'AGENT_NOT_FOUND', message: 'Agent not found' }),
});

export const listAgentSubmissions: readonly WireCase[] = [
  {
    title: 'lists submitted agents with their prompts',
    ask: having({}),
    status: 200,
    body: (app) => ({
      agents: [
        {
          ...agent(app, 'pending'),
          systemPrompt: 'Count.',
          preferredModel: null,
          allowedTools: null,
          deniedTools: ['dice_roll'],
        },
      ],
      pagination: onePage(1),
    }),
  },
  {
    title: 'omits an agent without a request for publication',
    ask: having({ path: '/agents/submissions' }, false),
    status: 200,
    body: { agents: [], pagination: onePage(0) },
  },
  {
    title: 'omits an agent that is already approved',
    ask: having({ path: `${PATH}/submissions?state=approved` }),
    status: 200,
    body: { agents: [], pagination: onePage(0) },
  },
  notAdmin(),
  switchedOff(),
];

export const approveAgent: readonly WireCase[] = [
  {
    title: 'publishes an agent',
    ask: having({ path: `${PATH}/${GRACE}/approve`, body: AS_READ }),
    status: 200,
    body: (app) => agent(app, 'published'),
  },
  {
    title: 'rejects approval of an agent that changed since it was read',
    ask: having({ path: `/agents/${GRACE}/approve`, body: { updatedAt: '2026-11-21T11:59:59.000Z' } }),
    ...refused('application', {
      status: 409,
      code: 'CONFLICT',
      message: 'The agent has changed. Read it again.',
    }),
  },
  missing('of a private agent', having({ path: `${PATH}/${GRACE}/approve`, body: AS_READ }, false)),
  missing('of an unknown agent', asAdmin({ body: AS_READ })),
  notAdmin(AS_READ),
  switchedOff({ body: AS_READ }),
];

export const refuseAgent: readonly WireCase[] = [
  {
    title: 'rejects the publication of an agent',
    ask: having({ path: `${PATH}/${GRACE}/refuse` }),
    status: 200,
    body: (app) => agent(app, 'refused'),
  },
  missing('of a private agent', having({ path: `${PATH}/${GRACE}/refuse` }, false)),
  missing('of an unknown agent', asAdmin()),
  notAdmin(),
  switchedOff(),
];
