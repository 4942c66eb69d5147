import * as z from 'zod';
import { idParams } from '../http/identifiers.ts';
import { numberedQuery, pagination } from '../http/pages.ts';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';
import { agentDescription, agentName, triggerWords } from './fields.ts';

const trait = text({ max: 2000 });
const traits = {
  majorMotivation: trait,
  minorMotivation: trait,
  characterFlaw: trait,
  uniqueQuirk: trait,
  responseStyle: trait,
};

export const applicationAgent = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  avatarUrl: z.string().nullable(),
  personality: z.object(traits),
  capabilities: z.array(z.string()),
  triggerWords: z.array(z.string()).meta({ description: 'With their `@`, in lower case.' }),
  isPublic: z.boolean(),
  ownerId: z.string(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

export type ApplicationAgent = z.input<typeof applicationAgent>;

/** Unknown fields, and those a server decides, are ignored. */
const changes = z
  .object({
    name: agentName,
    description: agentDescription,
    avatarUrl: z
      .url({ protocol: /^https?$/, error: 'expected an http or https address' })
      .max(2048)
      .nullable(),
    personality: z.object(traits).partial(),
    capabilities: z.array(text({ min: 1, max: 200 })).max(50),
    triggerWords,
    isPublic: z.boolean(),
  })
  .partial();

export type ApplicationAgentBody = z.output<typeof changes>;

const common = {
  auth: 'token',
  scopes: [],
  family: 'application',
  subject: 'Agent',
  subjectCode: 'AGENT_NOT_FOUND',
  bodyFault: { status: 400, applicationCode: 'INVALID_AGENT_DATA' },
} as const;

const switchedOff = 'the administrator has switched agents off.';
const notOwner = `AGENT_ACCESS_DENIED: a public agent of somebody else; or ${switchedOff}`;
const faulty = { status: 400, description: 'INVALID_AGENT_DATA.' };
const flag = z.enum(['true', 'false']);

export const listApplicationAgents = defineOperation({
  ...common,
  id: 'listApplicationAgents',
  method: 'GET',
  path: '/api/agents',
  aliases: ['/agents'],
  summary: "List the caller's own and the public agents",
  rate: { key: 'unlimited', user: 'agents-list' },
  owner: 'caller-or-shared',
  input: {
    query: numberedQuery().extend({
      search: text({ max: 200 }).optional().meta({ description: 'Part of the name or description.' }),
      owned: flag.optional().meta({ description: 'True: own ones only.' }),
      public: flag.optional().meta({ description: 'False: own ones only.' }),
      sort: z.enum(['createdAt', 'updatedAt', 'name']).default('createdAt'),
    }),
  },
  output: {
    200: { description: 'A page.', schema: z.object({ agents: z.array(applicationAgent), pagination }) },
  },
  refusals: [{ status: 403, description: `FORBIDDEN: ${switchedOff}` }],
});

export const createApplicationAgent = defineOperation({
  ...common,
  id: 'createApplicationAgent',
  method: 'POST',
  path: '/api/agents',
  aliases: ['/agents'],
  summary: 'Create an agent',
  rate: { key: 'unlimited', user: 'agents-create' },
  owner: 'caller',
  input: { body: changes.extend({ name: agentName }) },
  output: { 201: { description: 'The agent.', schema: applicationAgent } },
  refusals: [
    faulty,
    { status: 403, description: `FORBIDDEN: ${switchedOff}` },
    { status: 429, description: 'AGENT_LIMIT_EXCEEDED: the caller has as many as there may be.' },
  ],
});

export const getApplicationAgent = defineOperation({
  ...common,
  id: 'getApplicationAgent',
  method: 'GET',
  path: '/api/agents/{id}',
  aliases: ['/agents/{id}'],
  summary: 'Read an agent',
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller-or-shared',
  input: { params: idParams },
  output: { 200: { description: 'The agent.', schema: applicationAgent } },
  refusals: [{ status: 403, description: `FORBIDDEN: ${switchedOff}` }],
});

export const updateApplicationAgent = defineOperation({
  ...common,
  id: 'updateApplicationAgent',
  method: 'PUT',
  path: '/api/agents/{id}',
  aliases: ['/agents/{id}'],
  summary: 'Change what is named of an agent',
  rate: { key: 'unlimited', user: 'agents-update' },
  owner: 'caller',
  input: { params: idParams, body: changes },
  output: { 200: { description: 'The agent as it is now.', schema: applicationAgent } },
  refusals: [faulty, { status: 403, description: notOwner }],
});

export const deleteApplicationAgent = defineOperation({
  ...common,
  id: 'deleteApplicationAgent',
  method: 'DELETE',
  path: '/api/agents/{id}/delete',
  aliases: ['/agents/{id}/delete'],
  summary: 'Delete an agent',
  rate: { key: 'unlimited', user: 'agents-delete' },
  owner: 'caller',
  input: { params: idParams },
  output: {
    200: {
      description: 'It is gone.',
      schema: z.object({ message: z.string(), deletedAt: z.iso.datetime() }),
    },
  },
  refusals: [{ status: 403, description: notOwner }],
});

export const generateAgentDescription = defineOperation({
  ...common,
  id: 'generateAgentDescription',
  method: 'POST',
  path: '/api/agents/{id}/generate-description',
  aliases: ['/agents/{id}/generate-description'],
  summary: 'Have a model write what an agent is like; nothing is stored',
  rate: { key: 'unlimited', user: 'application-ai' },
  owner: 'caller-or-shared',
  input: { params: idParams },
  output: {
    200: {
      description: 'A proposal.',
      schema: z.object({ description: z.string(), generatedAt: z.iso.datetime() }),
    },
  },
  refusals: [
    { status: 403, description: `FORBIDDEN: ${switchedOff}` },
    { status: 422, description: 'INSUFFICIENT_CREDITS; or no model can be used.' },
    { status: 502, description: 'PROVIDER_ERROR: the model provider failed.' },
    { status: 503, description: 'PROVIDER_ERROR: it is overloaded or has no key.' },
  ],
});
