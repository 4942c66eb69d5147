import { SESSIONS } from '@questline/core/internal';
import { addAgent } from '../../support/agents.ts';
import type { TestApp, TestAppOptions } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { refused, type WireCase } from './case.ts';
import { AT_NOON } from './chat.ts';

const GRACE = 'a'.repeat(24);
const UNKNOWN_ID = 'f'.repeat(24);
const card = { id: GRACE, name: 'Grace', avatarUrl: null };

interface Setting {
  readonly attached?: boolean;
  /** The caller's share of the session of another user. */
  readonly shared?: 'readerIds' | 'writerIds';
  readonly isPublic?: boolean;
}

/** A session and an agent, either both of the caller or both of another user. */
const within =
  (asked: (path: string) => Partial<Asked>, { attached = false, shared, isPublic = false }: Setting = {}) =>
  async ({ user, ...app }: TestApp): Promise<Partial<Asked>> => {
    const owner = shared === undefined ? user : await app.addUser('bob@example.com');
    const { services } = app;
    await addAgent({ ...app, user }, { id: GRACE, ownerId: owner.id, name: 'Grace', isPublic });
    const id = 'b'.repeat(24);
    const now = services.clock.now();
    await services.store.collection(SESSIONS).insert({
      id,
      ownerId: owner.id,
      name: 'Work',
      firstCreated: now,
      lastUpdated: now,
      ...(attached && { agentIds: [GRACE] }),
      ...(shared !== undefined && { [shared]: [user.id] }),
    });
    return asked(`/sessions/${id}/agents`);
  };

const SESSION_NOT_FOUND = refused('application', {
  status: 404,
  code: 'SESSION_NOT_FOUND',
  message: 'Session not found',
});
const AGENT_NOT_FOUND = refused('application', {
  status: 404,
  code: 'AGENT_NOT_FOUND',
  message: 'Agent not found',
});
const READ_ONLY = refused('application', {
  status: 403,
  message: 'You may read this session, not change it',
});
const switchedOff = (asked: Partial<Asked> = {}): WireCase => ({
  title: 'rejects while agents are disabled',
  app: (): TestAppOptions => ({ settings: { admin: { EnableAgents: false } } }),
  ask: asked,
  ...refused('application', { status: 403, message: 'Agents are switched off' }),
});

export const listSessionAgents: readonly WireCase[] = [
  {
    title: 'lists the agents of a session',
    ask: within((path) => ({ path: `/api${path}` }), { attached: true }),
    status: 200,
    body: { agents: [{ ...card, attachedAt: AT_NOON }] },
    everywhere: true,
  },
  {
    title: 'lists the agents that a reader may use, at its literal path',
    ask: within((path) => ({ path }), { attached: true, shared: 'readerIds' }),
    status: 200,
    body: { agents: [] },
  },
  { title: 'answers 404 for an unknown session', ...SESSION_NOT_FOUND },
  switchedOff(),
];

const attaching =
  (agentId: string) =>
  (path: string): Partial<Asked> => ({ path, body: { agentId } });

export const attachSessionAgent: readonly WireCase[] = [
  {
    title: 'attaches an agent',
    ask: within((path) => ({ path: `/api${path}`, body: { agentId: GRACE } })),
    status: 200,
    body: { message: 'The agent is attached', agent: card, attachedAt: AT_NOON },
    everywhere: true,
  },
  {
    title: 'attaches a public agent to a session shared to write',
    ask: within(attaching(GRACE), { shared: 'writerIds', isPublic: true }),
    status: 200,
    body: { message: 'The agent is attached', agent: card, attachedAt: AT_NOON },
  },
  {
    title: 'rejects an attached agent',
    ask: within(attaching(GRACE), { attached: true }),
    ...refused('application', {
      status: 409,
      code: 'AGENT_ALREADY_ATTACHED',
      message: 'The agent is already attached',
    }),
  },
  { title: 'answers 404 for an unknown agent', ask: within(attaching(UNKNOWN_ID)), ...AGENT_NOT_FOUND },
  { title: 'answers 404 for a malformed agent id', ask: within(attaching('x')), ...AGENT_NOT_FOUND },
  {
    title: 'answers 404 for a private agent of another user',
    ask: within(attaching(GRACE), { shared: 'writerIds' }),
    ...AGENT_NOT_FOUND,
  },
  {
    title: 'rejects a session shared to read',
    ask: within(attaching(GRACE), { shared: 'readerIds' }),
    ...READ_ONLY,
  },
  { title: 'answers 404 for an unknown session', ask: { body: { agentId: GRACE } }, ...SESSION_NOT_FOUND },
  {
    title: 'rejects a missing agent',
    ask: within((path) => ({ path, body: {} })),
    ...refused('application', {
      status: 422,
      message: 'agentId: is required',
      details: [{ path: 'agentId', message: 'is required' }],
    }),
  },
  switchedOff({ body: { agentId: GRACE } }),
];

const detaching =
  (agentId: string) =>
  (path: string): Partial<Asked> => ({ path: `${path}?agentId=${agentId}` });
const NOWHERE = { path: `/api/sessions/${UNKNOWN_ID}/agents?agentId=${GRACE}` };

export const detachSessionAgent: readonly WireCase[] = [
  {
    title: 'detaches an agent',
    ask: within((path) => ({ path: `/api${path}?agentId=${GRACE}` }), { attached: true }),
    status: 200,
    body: { message: 'The agent is detached', detachedAt: AT_NOON },
    everywhere: true,
  },
  {
    title: 'answers 404 for an agent that is not attached',
    ask: within(detaching(GRACE)),
    ...refused('application', {
      status: 409,
      code: 'AGENT_NOT_ATTACHED',
      message: 'The agent is not attached',
    }),
  },
  { title: 'answers 404 for an unknown agent', ask: within(detaching(UNKNOWN_ID)), ...AGENT_NOT_FOUND },
  {
    title: 'answers 404 for a private agent of another user that is not attached',
    ask: within(detaching(GRACE), { shared: 'writerIds' }),
    ...AGENT_NOT_FOUND,
  },
  {
    title: 'rejects a session shared to read',
    ask: within(detaching(GRACE), { shared: 'readerIds', attached: true }),
    ...READ_ONLY,
  },
  { title: 'answers 404 for an unknown session', ask: NOWHERE, ...SESSION_NOT_FOUND },
  {
    title: 'rejects a missing agent',
    ask: within((path) => ({ path })),
    ...refused('application', {
      status: 422,
      message: 'agentId: is required',
      details: [{ path: 'agentId', message: 'is required' }],
    }),
  },
  {
    title: 'rejects a body',
    ask: { ...NOWHERE, body: {} },
    ...refused('application', { status: 400, message: 'DELETE takes no request body' }),
  },
  switchedOff(NOWHERE),
];
