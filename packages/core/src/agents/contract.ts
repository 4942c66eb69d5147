import * as z from 'zod';
import { pageQuery } from '../http/cursor.ts';
import { idParams } from '../http/identifiers.ts';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';
import { agentDescription, agentName, triggerWords } from './fields.ts';

const MOST_TOOLS = 200;

/** What may be unset again, with null. */
const settings = {
  system_prompt: text({ max: 16_000 }).nullable(),
  preferred_model: z.string().min(1).nullable(),
  temperature: z.number().min(0).max(2).nullable(),
  max_tokens: z.int().min(1).max(128_000).nullable(),
  allowed_tools: z.array(z.string()).max(MOST_TOOLS).nullable(),
  denied_tools: z.array(z.string()).max(MOST_TOOLS).nullable(),
};

export const agent = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  ...settings,
  system_prompt: z.string().nullable().meta({ description: 'Shown to nobody but the owner.' }),
  allowed_tools: settings.allowed_tools.meta({ description: 'Null: all.' }),
  trigger_words: z.array(z.string()).meta({ description: 'Mentions that bring the agent in, with `@`.' }),
  is_owner: z.boolean(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
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
  rate: { key: 'standard', user: 'unlimited' },
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
  summary: "List the caller's own and the public agents, oldest first",
  input: { query: pageQuery },
  output: {
    200: {
      description: 'A page of agents.',
      schema: z.object({ data: z.array(agent), next_cursor: z.string().nullable() }),
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
  description: 'It is not public, and has no personality but its prompt.',
  input: { body: changes.extend({ name: agentName }) },
  output: { 201: { description: 'The agent.', schema: agent } },
  refusals: [
    { status: 400, description: '`agent_limit_reached`: the caller has as many agents as there may be.' },
    switchedOff,
  ],
});

export const getAgent = defineOperation({
  ...read,
  id: 'getAgent',
  method: 'GET',
  path: '/api/v1/agents/{id}',
  summary: 'Read an agent',
  input: { params: idParams },
  output: { 200: { description: 'The agent.', schema: agent } },
  refusals: [switchedOff],
});

export const updateAgent = defineOperation({
  ...write,
  id: 'updateAgent',
  method: 'PATCH',
  path: '/api/v1/agents/{id}',
  summary: 'Change what is named of an agent',
  input: { params: idParams, body: changes },
  output: { 200: { description: 'The agent as it is now.', schema: agent } },
  refusals: [switchedOff],
});

export const deleteAgent = defineOperation({
  ...write,
  id: 'deleteAgent',
  method: 'DELETE',
  path: '/api/v1/agents/{id}',
  summary: 'Delete an agent',
  input: { params: idParams },
  output: { 204: { description: 'It is gone.' } },
  refusals: [switchedOff],
});
