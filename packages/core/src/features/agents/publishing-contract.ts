import * as z from 'zod';
import { idParams } from '../../contract/identifiers.ts';
import { defineOperation } from '../../contract/operation.ts';
import { numberedQuery, pagination } from '../../contract/pages.ts';
import { applicationAgent } from './application-contract.ts';

/** The fields that reach other users' prompts after approval. */
const submission = applicationAgent.extend({
  systemPrompt: z.string().nullable().describe('The instructions of the agent; null without instructions.'),
  preferredModel: z
    .string()
    .nullable()
    .describe('The model of turns that the agent shapes; null without a preference.'),
  allowedTools: z
    .array(z.string())
    .nullable()
    .describe('The ids of the only tools that the agent may use; null without a restriction.'),
  deniedTools: z
    .array(z.string())
    .nullable()
    .describe('The ids of tools that the agent may not use; null without a restriction.'),
});

const common = {
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'admin',
  family: 'application',
  tag: 'Assistants',
  subject: 'Agent',
  subjectCode: 'AGENT_NOT_FOUND',
} as const;

const notAdmin = {
  status: 403,
  description: 'The caller is not an administrator; or agents are switched off.',
};
const decided = { 200: { description: 'The updated agent.', schema: applicationAgent } };

export const listAgentSubmissions = defineOperation({
  ...common,
  id: 'listAgentSubmissions',
  method: 'GET',
  path: '/api/agents/submissions',
  aliases: ['/agents/submissions'],
  summary: 'List agents that wait for approval, with their prompts, oldest first',
  description: 'For administrators, who decide with `approveAgent` and `refuseAgent`.',
  input: {
    query: numberedQuery().extend({
      state: z
        .enum(['pending', 'approved', 'refused'])
        .default('pending')
        .describe('The state of the submissions to list.'),
    }),
  },
  output: {
    200: {
      description: 'A page.',
      schema: z.object({
        agents: z.array(submission).describe('The submitted agents of this page.'),
        pagination,
      }),
    },
  },
  refusals: [notAdmin],
});

export const approveAgent = defineOperation({
  ...common,
  audit: ['agent.approved'],
  id: 'approveAgent',
  method: 'POST',
  path: '/api/agents/{id}/approve',
  aliases: ['/agents/{id}/approve'],
  summary: 'Approve an agent for all users, in the version that was read',
  description: 'The approval ends when a user who is not an administrator changes the agent.',
  input: {
    params: idParams,
    body: z.object({
      updatedAt: z.iso.datetime().meta({ description: '`updatedAt` of the agent as it was read.' }),
    }),
  },
  output: decided,
  refusals: [notAdmin, { status: 409, description: 'CONFLICT: the agent has changed since it was read.' }],
});

export const refuseAgent = defineOperation({
  ...common,
  audit: ['agent.refused'],
  id: 'refuseAgent',
  method: 'POST',
  path: '/api/agents/{id}/refuse',
  aliases: ['/agents/{id}/refuse'],
  summary: 'Refuse to publish an agent, or withdraw an approval',
  description: 'For administrators. The agent stays, or becomes, private.',
  input: { params: idParams },
  output: decided,
  refusals: [notAdmin],
});
