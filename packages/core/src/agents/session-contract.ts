import * as z from 'zod';
import { defineOperation } from '../operation.ts';

const card = z.object({ id: z.string(), name: z.string(), avatarUrl: z.string().nullable() });

const common = {
  path: '/api/sessions/{sessionId}/agents',
  aliases: ['/sessions/{sessionId}/agents'],
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'session-agents' },
  owner: 'caller-or-shared',
  family: 'application',
  subject: 'Session',
  subjectCode: 'SESSION_NOT_FOUND',
} as const;

const params = z.object({ sessionId: z.string().regex(/^[0-9a-f]{24}$/) });

const forbidden = {
  status: 403,
  description: 'FORBIDDEN: the caller may read the session and not change it; or agents are switched off.',
};

export const listSessionAgents = defineOperation({
  ...common,
  id: 'listSessionAgents',
  method: 'GET',
  summary: 'List the agents of a session, as far as the caller may use them',
  input: { params },
  output: {
    200: {
      description: 'They.',
      schema: z.object({ agents: z.array(card.extend({ attachedAt: z.iso.datetime() })) }),
    },
  },
  refusals: [{ status: 403, description: 'FORBIDDEN: agents are switched off.' }],
});

export const attachSessionAgent = defineOperation({
  ...common,
  id: 'attachSessionAgent',
  method: 'POST',
  summary: 'Attach an agent to a session',
  input: { params, body: z.object({ agentId: z.string() }) },
  output: {
    200: {
      description: 'It is attached.',
      schema: z.object({ message: z.string(), agent: card, attachedAt: z.iso.datetime() }),
    },
  },
  refusals: [
    forbidden,
    { status: 404, description: 'SESSION_NOT_FOUND, AGENT_NOT_FOUND.' },
    { status: 409, description: 'AGENT_ALREADY_ATTACHED.' },
  ],
});

export const detachSessionAgent = defineOperation({
  ...common,
  id: 'detachSessionAgent',
  method: 'DELETE',
  summary: 'Detach an agent from a session',
  input: { params, query: z.object({ agentId: z.string() }) },
  output: {
    200: {
      description: 'It is detached.',
      schema: z.object({ message: z.string(), detachedAt: z.iso.datetime() }),
    },
  },
  refusals: [
    forbidden,
    { status: 404, description: 'SESSION_NOT_FOUND, AGENT_NOT_FOUND.' },
    { status: 409, description: 'AGENT_NOT_ATTACHED.' },
  ],
});
