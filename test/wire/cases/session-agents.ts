import { SESSIONS } from '@questline/core';
import { addAgent } from '../../support/agents.ts';
import type { Asked } from '../../support/wire.ts';
import type { World, WorldOptions } from '../../support/world.ts';
import { refused, type WireCase } from './case.ts';
import { AT_NOON } from './chat.ts';

const GRACE = 'a'.repeat(24);
const NOBODY = 'f'.repeat(24);
const card = { id: GRACE, name: 'Grace', avatarUrl: null };

interface Setting {
  readonly attached?: boolean;
  /** What the caller may do with the session of somebody else. */
  readonly shared?: 'readerIds' | 'writerIds';
  readonly isPublic?: boolean;
}

/** A session, and an agent: the caller's own, or both somebody else's. */
const within =
  (asked: (path: string) => Partial<Asked>, { attached = false, shared, isPublic = false }: Setting = {}) =>
  async ({ user, ...world }: World): Promise<Partial<Asked>> => {
    const owner = shared === undefined ? user : await world.addUser('bob@example.com');
    const { services } = world;
    await addAgent({ ...world, user }, { id: GRACE, ownerId: owner.id, name: 'Grace', isPublic });
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
  title: 'while agents are switched off',
  world: (): WorldOptions => ({ settings: { admin: { EnableAgents: false } } }),
  ask: asked,
  ...refused('application', { status: 403, message: 'Agents are switched off' }),
});

export const listSessionAgents: readonly WireCase[] = [
  {
    title: 'lists those of a session',
    ask: within((path) => ({ path: `/api${path}` }), { attached: true }),
    status: 200,
    body: { agents: [{ ...card, attachedAt: AT_NOON }] },
    everywhere: true,
  },
  {
    title: 'lists them at its literal path, to those it is shared with, as far as they may use them',
    ask: within((path) => ({ path }), { attached: true, shared: 'readerIds' }),
    status: 200,
    body: { agents: [] },
  },
  { title: 'an unknown session', ...SESSION_NOT_FOUND },
  switchedOff(),
];

const attaching =
  (agentId: string) =>
  (path: string): Partial<Asked> => ({ path, body: { agentId } });

export const attachSessionAgent: readonly WireCase[] = [
  {
    title: 'attaches one',
    ask: within((path) => ({ path: `/api${path}`, body: { agentId: GRACE } })),
    status: 200,
    body: { message: 'The agent is attached', agent: card, attachedAt: AT_NOON },
    everywhere: true,
  },
  {
    title: 'attaches a public one to a session that is shared to write',
    ask: within(attaching(GRACE), { shared: 'writerIds', isPublic: true }),
    status: 200,
    body: { message: 'The agent is attached', agent: card, attachedAt: AT_NOON },
  },
  {
    title: 'one that is attached',
    ask: within(attaching(GRACE), { attached: true }),
    ...refused('application', {
      status: 409,
      code: 'AGENT_ALREADY_ATTACHED',
      message: 'The agent is attached already',
    }),
  },
  { title: 'an unknown one', ask: within(attaching(NOBODY)), ...AGENT_NOT_FOUND },
  { title: 'one that is no id', ask: within(attaching('x')), ...AGENT_NOT_FOUND },
  {
    title: "somebody else's private one",
    ask: within(attaching(GRACE), { shared: 'writerIds' }),
    ...AGENT_NOT_FOUND,
  },
  {
    title: 'to a session that may be read only',
    ask: within(attaching(GRACE), { shared: 'readerIds' }),
    ...READ_ONLY,
  },
  { title: 'to an unknown session', ask: { body: { agentId: GRACE } }, ...SESSION_NOT_FOUND },
  {
    title: 'none at all',
    ask: within((path) => ({ path, body: {} })),
    ...refused('application', {
      status: 422,
      message: 'agentId: Invalid input: expected string, received undefined',
      details: [{ path: 'agentId', message: 'Invalid input: expected string, received undefined' }],
    }),
  },
  switchedOff({ body: { agentId: GRACE } }),
];

const detaching =
  (agentId: string) =>
  (path: string): Partial<Asked> => ({ path: `${path}?agentId=${agentId}` });
const NOWHERE = { path: `/api/sessions/${NOBODY}/agents?agentId=${GRACE}` };

export const detachSessionAgent: readonly WireCase[] = [
  {
    title: 'detaches one',
    ask: within((path) => ({ path: `/api${path}?agentId=${GRACE}` }), { attached: true }),
    status: 200,
    body: { message: 'The agent is detached', detachedAt: AT_NOON },
    everywhere: true,
  },
  {
    title: 'one that is not attached',
    ask: within(detaching(GRACE)),
    ...refused('application', {
      status: 409,
      code: 'AGENT_NOT_ATTACHED',
      message: 'The agent is not attached',
    }),
  },
  { title: 'an unknown one', ask: within(detaching(NOBODY)), ...AGENT_NOT_FOUND },
  {
    title: "somebody else's private one, which is not attached",
    ask: within(detaching(GRACE), { shared: 'writerIds' }),
    ...AGENT_NOT_FOUND,
  },
  {
    title: 'from a session that may be read only',
    ask: within(detaching(GRACE), { shared: 'readerIds', attached: true }),
    ...READ_ONLY,
  },
  { title: 'from an unknown session', ask: NOWHERE, ...SESSION_NOT_FOUND },
  {
    title: 'none at all',
    ask: within((path) => ({ path })),
    ...refused('application', {
      status: 422,
      message: 'agentId: Invalid input: expected string, received undefined',
      details: [{ path: 'agentId', message: 'Invalid input: expected string, received undefined' }],
    }),
  },
  {
    title: 'with a body',
    ask: { ...NOWHERE, body: {} },
    ...refused('application', { status: 400, message: 'DELETE takes no request body' }),
  },
  switchedOff(NOWHERE),
];
