import * as z from 'zod';
import { defineOperation } from '../../contract/operation.ts';

const card = z.object({
  id: z.string().describe('The id of the agent.'),
  name: z.string().describe('The name of the agent.'),
  avatarUrl: z.string().nullable().describe('The address of a picture; null without a picture.'),
});

const common = {
  path: '/api/sessions/{sessionId}/agents',
  aliases: ['/sessions/{sessionId}/agents'],
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'session-agents' },
  owner: 'caller-or-shared',
  family: 'application',
  tag: 'Conversations',
  subject: 'Session',
  subjectCode: 'SESSION_NOT_FOUND',
} as const;

const params = z.object({
  sessionId: z
    .string()
    .regex(/^[0-9a-f]{24}$/)
    .describe('The id of the session.'),
});

const forbidden = {
  status: 403,
  description: 'FORBIDDEN: the caller may read but not change the session; or agents are switched off.',
};

export const listSessionAgents = defineOperation({
  ...common,
  id: 'listSessionAgents',
  method: 'GET',
  summary: 'List the agents of a session that the caller may use',
  description: 'Messages of the session can mention these agents.',
  input: { params },
  output: {
    200: {
      description: 'The agents.',
      schema: z.object({
        agents: z
          .array(
            card.extend({
              attachedAt: z.iso.datetime().describe('The time at which the agent was attached.'),
            }),
          )
          .describe('The attached agents.'),
      }),
    },
  },
  refusals: [{ status: 403, description: 'FORBIDDEN: agents are switched off.' }],
});

export const attachSessionAgent = defineOperation({
  ...common,
  id: 'attachSessionAgent',
  method: 'POST',
  summary: 'Attach an agent to a session',
  description: 'Messages of the session can mention the agent from now on.',
  input: { params, body: z.object({ agentId: z.string().describe('The id of the agent to attach.') }) },
  output: {
    200: {
      description: 'The agent is attached.',
      schema: z.object({
        message: z.string().describe('A confirmation, for people.'),
        agent: card.describe('The attached agent.'),
        attachedAt: z.iso.datetime().describe('The time at which the agent was attached.'),
      }),
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
  description:
    'Mentions of the agent have no effect in this session any more. A caller with a write share detaches the agents ' +
    'that the caller has attached.',
  input: { params, query: z.object({ agentId: z.string().describe('The id of the agent to detach.') }) },
  output: {
    200: {
      description: 'The agent is detached.',
      schema: z.object({
        message: z.string().describe('A confirmation, for people.'),
        detachedAt: z.iso.datetime().describe('The time at which the agent was detached.'),
      }),
    },
  },
  refusals: [
    {
      status: 403,
      description:
        'FORBIDDEN: the caller may not change the session, or another user has attached the agent; or agents are ' +
        'switched off.',
    },
    { status: 404, description: 'SESSION_NOT_FOUND, AGENT_NOT_FOUND.' },
    { status: 409, description: 'AGENT_NOT_ATTACHED.' },
  ],
});
