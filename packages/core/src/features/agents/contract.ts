import * as z from 'zod';
import { cursorPage, pageQuery } from '../../contract/cursor.ts';
import { idParams } from '../../contract/identifiers.ts';
import { distinctStrings, MAX_TOOLS } from '../../contract/lists.ts';
import { defineOperation } from '../../contract/operation.ts';
import { permission, sharedQuery } from '../../contract/shared.ts';
import { text } from '../../contract/text.ts';
import { agentDescription, agentName, triggerWords } from './fields.ts';

const tools = distinctStrings(MAX_TOOLS).nullable();

/** Fields that null unsets. */
const settings = {
  system_prompt: text({ max: 16_000 })
    .nullable()
    .describe(
      'The instructions of the agent; null without instructions, and for callers who are not the owner.',
    ),
  preferred_model: z
    .string()
    .min(1)
    .nullable()
    .describe('The model of turns that the agent shapes; null without a preference.'),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .nullable()
    .describe('The sampling temperature; null to use that of the request.'),
  max_tokens: z
    .int()
    .min(1)
    .max(128_000)
    .nullable()
    .describe('The maximum length of the answer, in tokens; null to use that of the request.'),
  allowed_tools: tools.describe(
    'The ids of the only tools that the agent may use; null without a restriction.',
  ),
  denied_tools: tools.describe('The ids of tools that the agent may not use; null without a restriction.'),
};

export const agent = z.object({
  id: z.string().describe('The id of the agent.'),
  name: z.string().describe('The name of the agent.'),
  description: z.string().describe('What the agent is for.'),
  ...settings,
  system_prompt: z.string().nullable().meta({ description: 'Visible only to the owner.' }),
  allowed_tools: settings.allowed_tools.meta({ description: 'Null: all.' }),
  trigger_words: z
    .array(z.string())
    .meta({ description: 'Mentions that add the agent to a turn, each with `@`.' }),
  is_owner: z.boolean().describe('Whether the caller owns the agent.'),
  created_at: z.iso.datetime().describe('The time of creation.'),
  updated_at: z.iso.datetime().describe('The time of the last change.'),
});

export type WireAgent = z.input<typeof agent>;

const changes = z
  .strictObject({
    name: agentName,
    description: agentDescription,
    ...settings,
    trigger_words: triggerWords,
  })
  .partial();

export type AgentBody = z.output<typeof changes>;

const common = {
  tag: 'Agents',
  auth: 'key-or-token',
  rate: { key: 'standard', user: 'standard' },
  family: 'public',
  subject: 'Agent',
} as const;

const read = { ...common, scopes: ['agents:read', 'agents:write'], owner: 'caller-or-shared' } as const;
const write = { ...common, scopes: ['agents:write'], owner: 'caller' } as const;

const switchedOff = { status: 403, description: 'The administrator has switched agents off.' };

export const listAgents = defineOperation({
  ...read,
  id: 'listAgents',
  method: 'GET',
  path: '/api/v1/agents',
  summary: 'List own and public agents, oldest first',
  description:
    'Includes agents that other users have published. Pass `next_cursor` as `cursor` to get the next page.',
  input: { query: pageQuery.extend(sharedQuery) },
  output: {
    200: {
      description: 'A page of agents.',
      schema: cursorPage(agent.extend({ permission })),
    },
  },
  refusals: [switchedOff],
});

export const createAgent = defineOperation({
  ...write,
  id: 'createAgent',
  method: 'POST',
  path: '/api/v1/agents',
  summary: 'Create an agent',
  description: 'The agent is private, and has only its prompt for a personality.',
  input: { body: changes.extend({ name: agentName.describe('The name of the agent.') }) },
  output: { 201: { description: 'The agent.', schema: agent } },
  refusals: [
    { status: 400, description: '`agent_limit_reached`: the caller has the maximum number of agents.' },
    switchedOff,
  ],
});

export const getAgent = defineOperation({
  ...read,
  id: 'getAgent',
  method: 'GET',
  path: '/api/v1/agents/{id}',
  summary: 'Get an agent',
  description: 'The instructions of an agent are visible only to its owner.',
  input: { params: idParams },
  output: { 200: { description: 'The agent.', schema: agent } },
  refusals: [switchedOff],
});

export const updateAgent = defineOperation({
  ...write,
  id: 'updateAgent',
  method: 'PATCH',
  path: '/api/v1/agents/{id}',
  summary: 'Update the given fields of an agent',
  description: 'For its owner and users with a write share. Only the owner sets the system prompt.',
  owner: 'caller-or-shared',
  input: { params: idParams, body: changes },
  output: { 200: { description: 'The updated agent.', schema: agent } },
  refusals: [
    {
      status: 403,
      description:
        'The administrator has switched agents off, or the caller sets `system_prompt` and is not the owner.',
    },
  ],
});

export const deleteAgent = defineOperation({
  ...write,
  id: 'deleteAgent',
  method: 'DELETE',
  path: '/api/v1/agents/{id}',
  summary: 'Delete an agent',
  description: 'Detaches the agent from every session. Past answers stay.',
  input: { params: idParams },
  output: { 204: { description: 'The agent is deleted.' } },
  refusals: [switchedOff],
});
