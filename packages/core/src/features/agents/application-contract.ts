import * as z from 'zod';
import { idParams } from '../../contract/identifiers.ts';
import { distinctList } from '../../contract/lists.ts';
import { defineOperation } from '../../contract/operation.ts';
import { numberedQuery, pagination } from '../../contract/pages.ts';
import { permission, sharedQuery } from '../../contract/shared.ts';
import { text } from '../../contract/text.ts';
import { agentDescription, agentName, triggerWords } from './fields.ts';

const trait = text({ max: 2000 });
const traits = {
  majorMotivation: trait.describe('What drives the agent most.'),
  minorMotivation: trait.describe('What else drives the agent.'),
  characterFlaw: trait.describe('A weakness that makes the agent distinct.'),
  uniqueQuirk: trait.describe('A habit that makes the agent distinct.'),
  responseStyle: trait.describe('How the agent writes.'),
};

export const applicationAgent = z.object({
  id: z.string().describe('The id of the agent.'),
  name: z.string().describe('The name of the agent.'),
  description: z.string().describe('What the agent is for.'),
  avatarUrl: z.string().nullable().describe('The address of a picture; null without a picture.'),
  personality: z.object(traits).describe('Traits that shape the answers.'),
  capabilities: z.array(z.string()).describe('What the agent is good at.'),
  triggerWords: z.array(z.string()).meta({ description: 'Lower case, each with its `@`.' }),
  isPublic: z.boolean().meta({ description: 'The owner wants to publish the agent to all users.' }),
  publication: z.enum(['private', 'pending', 'published', 'refused']).meta({
    description:
      '`published`: all users may read and use it. `pending`: it waits for an administrator. `pending` and `refused` agents stay private.',
  }),
  ownerId: z.string().describe('The id of the owner.'),
  createdAt: z.iso.datetime().describe('The time of creation.'),
  updatedAt: z.iso.datetime().describe('The time of the last change.'),
});

export type ApplicationAgent = z.input<typeof applicationAgent>;

/** Unknown fields, and fields that the server decides, are ignored. */
const changes = z
  .object({
    name: agentName,
    description: agentDescription,
    avatarUrl: z
      .url({ protocol: /^https?$/, error: 'expected an http or https address' })
      .max(2048)
      .nullable()
      .describe('The address of a picture; null without a picture.'),
    personality: z.object(traits).partial().describe('Traits that shape the answers.'),
    capabilities: distinctList(text({ min: 1, max: 200 }), { max: 50 }).describe(
      'What the agent is good at.',
    ),
    triggerWords,
    isPublic: z.boolean().describe('Whether the agent is to be published to all users.'),
  })
  .partial();

export type ApplicationAgentBody = z.output<typeof changes>;

const common = {
  auth: 'token',
  scopes: [],
  family: 'application',
  tag: 'Assistants',
  subject: 'Agent',
  subjectCode: 'AGENT_NOT_FOUND',
  bodyFault: { status: 400, applicationCode: 'INVALID_AGENT_DATA' },
} as const;

const switchedOff = 'the administrator has switched agents off.';
const notOwner = `AGENT_ACCESS_DENIED: a public agent of another user; or ${switchedOff}`;
const invalidData = { status: 400, description: 'INVALID_AGENT_DATA.' };
const flag = z.enum(['true', 'false']);

export const listApplicationAgents = defineOperation({
  ...common,
  id: 'listApplicationAgents',
  method: 'GET',
  path: '/api/agents',
  aliases: ['/agents'],
  summary: 'List own and public agents',
  description:
    'Includes agents that other users have published. Filter, sort and page with the query parameters.',
  rate: { key: 'unlimited', user: 'agents-list' },
  owner: 'caller-or-shared',
  input: {
    query: numberedQuery().extend({
      ...sharedQuery,
      search: text({ max: 200 }).optional().meta({ description: 'Text in the name or description.' }),
      owned: flag.optional().meta({ description: 'True: only own agents.' }),
      public: flag.optional().meta({ description: 'False: only own agents.' }),
      sort: z
        .enum(['createdAt', 'updatedAt', 'name'])
        .default('createdAt')
        .describe('The field to order by.'),
    }),
  },
  output: {
    200: {
      description: 'A page.',
      schema: z.object({
        agents: z.array(applicationAgent.extend({ permission })).describe('The agents of this page.'),
        pagination,
      }),
    },
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
  description:
    'An agent is a reusable persona that messages can mention. Agents marked public wait for approval.',
  rate: { key: 'unlimited', user: 'agents-create' },
  owner: 'caller',
  input: { body: changes.extend({ name: agentName.describe('The name of the agent.') }) },
  output: { 201: { description: 'The agent.', schema: applicationAgent } },
  refusals: [
    invalidData,
    { status: 403, description: `FORBIDDEN: ${switchedOff}` },
    { status: 429, description: 'AGENT_LIMIT_EXCEEDED: the caller has the maximum number of agents.' },
  ],
});

export const getApplicationAgent = defineOperation({
  ...common,
  id: 'getApplicationAgent',
  method: 'GET',
  path: '/api/agents/{id}',
  aliases: ['/agents/{id}'],
  summary: 'Get an agent',
  description: 'Returns the agent without its instructions.',
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
  summary: 'Update the given fields of an agent',
  description: 'For its owner and users with a write share. Only the owner publishes it.',
  rate: { key: 'unlimited', user: 'agents-update' },
  owner: 'caller-or-shared',
  input: { params: idParams, body: changes },
  output: { 200: { description: 'The updated agent.', schema: applicationAgent } },
  refusals: [invalidData, { status: 403, description: notOwner }],
});

export const deleteApplicationAgent = defineOperation({
  ...common,
  id: 'deleteApplicationAgent',
  method: 'DELETE',
  path: '/api/agents/{id}/delete',
  aliases: ['/agents/{id}/delete'],
  summary: 'Delete an agent',
  description: 'Detaches the agent from every session. Past answers stay.',
  rate: { key: 'unlimited', user: 'agents-delete' },
  owner: 'caller',
  input: { params: idParams },
  output: {
    200: {
      description: 'The agent is deleted.',
      schema: z.object({
        message: z.string().describe('A confirmation, for people.'),
        deletedAt: z.iso.datetime().describe('The time of deletion.'),
      }),
    },
  },
  refusals: [{ status: 403, description: notOwner }],
});

export const generateAgentDescription = defineOperation({
  ...common,
  id: 'generateAgentDescription',
  paid: true,
  method: 'POST',
  path: '/api/agents/{id}/generate-description',
  aliases: ['/agents/{id}/generate-description'],
  summary: 'Generate a description of an agent; nothing is stored',
  description: 'A model writes the text from the name and the traits of the agent.',
  rate: { key: 'unlimited', user: 'application-ai' },
  owner: 'caller-or-shared',
  input: { params: idParams },
  output: {
    200: {
      description: 'A proposal.',
      schema: z.object({
        description: z.string().describe('The generated description. The agent is not changed.'),
        generatedAt: z.iso.datetime().describe('The time of the answer.'),
      }),
    },
  },
  refusals: [
    { status: 403, description: `FORBIDDEN: ${switchedOff}` },
    { status: 422, description: 'INSUFFICIENT_CREDITS; or no usable model.' },
    { status: 502, description: 'PROVIDER_ERROR: the model provider failed.' },
    { status: 503, description: 'PROVIDER_ERROR: it is overloaded or has no key.' },
  ],
});
