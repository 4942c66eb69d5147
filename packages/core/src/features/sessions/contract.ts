import * as z from 'zod';
import { cursorPage, pageQuery } from '../../contract/cursor.ts';
import { idParams } from '../../contract/identifiers.ts';
import { distinctList, distinctStrings, MAX_TOOLS } from '../../contract/lists.ts';
import { defineOperation } from '../../contract/operation.ts';
import { permission, sharedQuery } from '../../contract/shared.ts';
import { text } from '../../contract/text.ts';
import { MAX_SESSION_AGENTS, MAX_SESSION_LINKS } from './records.ts';

const MAX_TAGS = 100;

const tag = z.object({
  name: z.string().describe('The tag.'),
  strength: z.number().describe('How strongly the tag applies.'),
});

export const session = z.object({
  id: z.string().describe('The id of the session.'),
  name: z.string().describe('The title of the session.'),
  userId: z.string().meta({ description: 'The owner.' }),
  knowledgeIds: z.array(z.string()).describe('The ids of the files whose content turns can use.'),
  artifactIds: z.array(z.string()).describe('The ids of the artifacts of the session.'),
  agentIds: z.array(z.string()).describe('The ids of the attached agents.'),
  tags: z.array(tag).describe('The tags of the session.'),
  summary: z.string().optional().meta({ description: 'Present when session enrichment is on.' }),
  dataLakeId: z
    .string()
    .nullable()
    .meta({ description: 'The data lake that chats in the session search; null without a data lake.' }),
  projectId: z
    .string()
    .nullable()
    .describe('The id of the project that contains the session; null without a project.'),
  lastUsedModel: z
    .string()
    .nullable()
    .describe('The model of the last answer; null before the first answer.'),
  forceKnowledgeRetrieval: z
    .boolean()
    .describe('Whether each turn searches the files and the data lake first.'),
  retrievalTags: z.array(z.string()).describe('Tags that limit the search in files.'),
  includeLibraryFiles: z.boolean().describe('Whether searches include all files of the user.'),
  firstCreated: z.iso.datetime().describe('The time of creation.'),
  lastUpdated: z.iso.datetime().describe('The time of the last change.'),
});

const settings = {
  knowledgeIds: distinctStrings(MAX_SESSION_LINKS)
    .optional()
    .describe('The ids of files whose content turns can use. Replaces the list.'),
  artifactIds: distinctStrings(MAX_SESSION_LINKS)
    .optional()
    .describe('The ids of artifacts of the session. Replaces the list.'),
  agentIds: distinctStrings(MAX_SESSION_AGENTS)
    .optional()
    .describe('The ids of agents to attach. Replaces the list.'),
  tags: distinctList(tag, { max: MAX_TAGS }, ({ name }) => name)
    .optional()
    .describe('The tags of the session. Replaces the list.'),
  forceKnowledgeRetrieval: z
    .boolean()
    .optional()
    .describe('Whether each turn searches the files and the data lake first.'),
  retrievalTags: distinctStrings(MAX_TAGS)
    .optional()
    .describe('Tags that limit the search in files. Replaces the list.'),
  includeLibraryFiles: z.boolean().optional().describe('Whether searches include all files of the user.'),
  dataLakeId: z
    .string()
    .nullish()
    .meta({ description: 'The data lake that chats in the session search. Null takes it off.' }),
  systemPromptText: text({ max: 16_000 }).optional().meta({
    description: 'Only the owner may set it; never returned.',
  }),
  enabledTools: distinctStrings(MAX_TOOLS).optional().describe('The ids of tools that turns always offer.'),
  disabledTools: distinctStrings(MAX_TOOLS).optional().describe('The ids of tools that turns never offer.'),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .optional()
    .describe('The sampling temperature of turns that do not set their own.'),
  maxToolCalls: z.number().gt(0).optional().describe('The maximum number of tool calls of one turn.'),
};

const name = text({ min: 1, max: 255 });

export type WireSession = z.input<typeof session>;

const common = {
  tag: 'Sessions',
  auth: 'key-or-token',
  family: 'public',
  subject: 'Session',
  rate: { key: 'standard', user: 'standard' },
} as const;

export const listSessions = defineOperation({
  ...common,
  id: 'listSessions',
  method: 'GET',
  path: '/api/v1/sessions',
  summary: "List the caller's sessions, newest first",
  description: 'Sorted by the last change. Pass `next_cursor` as `cursor` to get the next page.',
  scopes: ['notebooks:read', 'notebooks:write'],
  rate: { key: 'day-exempt', user: 'standard' },
  owner: 'caller-or-shared',
  input: {
    query: pageQuery.extend({
      ...sharedQuery,
      search: text({ max: 200 }).optional().meta({ description: 'Text in the name.' }),
    }),
  },
  output: {
    200: {
      description: 'A page of sessions.',
      schema: cursorPage(session.extend({ permission })),
    },
  },
});

export const createSession = defineOperation({
  ...common,
  id: 'createSession',
  method: 'POST',
  path: '/api/v1/sessions',
  summary: 'Create a session',
  description:
    'A session keeps messages and the files, agents and settings that turns in it use. Linked ids must be readable by the caller.',
  scopes: ['notebooks:write'],
  owner: 'caller',
  input: { body: z.object({ name: name.describe('The title of the session.'), ...settings }) },
  output: { 200: { description: 'The session.', schema: session } },
  refusals: [{ status: 404, description: 'A referenced resource is unknown to the caller.' }],
});

export const cloneSession = defineOperation({
  ...common,
  id: 'cloneSession',
  method: 'POST',
  path: '/api/v1/sessions/{id}/clone',
  summary: 'Copy a session with its messages and links',
  description: 'The copy belongs to the caller. Links to records that the caller cannot read are left out.',
  scopes: ['notebooks:write'],
  owner: 'caller-or-shared',
  input: {
    params: idParams,
    body: z.object({ targetSurface: z.string().optional().meta({ description: 'Ignored.' }) }),
  },
  output: { 200: { description: 'The copy.', schema: session } },
});

export const getSession = defineOperation({
  ...common,
  id: 'getSession',
  method: 'GET',
  path: '/api/sessions/{id}',
  summary: 'Get a session',
  description: 'Returns the settings and links of a session, without its messages.',
  scopes: ['notebooks:read', 'notebooks:write'],
  owner: 'caller-or-shared',
  input: { params: idParams },
  output: { 200: { description: 'The session.', schema: session } },
});

export const updateSession = defineOperation({
  ...common,
  id: 'updateSession',
  method: 'PUT',
  path: '/api/sessions/{id}',
  summary: 'Update the given fields of a session',
  description:
    'Only links that are new to a list must be readable for the caller; links to deleted resources are dropped. A ' +
    'caller with a write share removes only the links that the caller has added: the others stay in the list, and ' +
    'the data lake of another user stays in place.',
  scopes: ['notebooks:write'],
  owner: 'caller-or-shared',
  input: {
    params: idParams,
    body: z.object({ name: name.optional().describe('The title of the session.'), ...settings }),
  },
  output: { 200: { description: 'The updated session.', schema: session } },
  refusals: [
    {
      status: 403,
      description:
        'The caller is not the owner, and the request sets `systemPromptText` or replaces the data lake of another user.',
    },
    { status: 404, description: 'The session, or a link that is new to it, is unknown to the caller.' },
  ],
});

export const deleteSession = defineOperation({
  ...common,
  id: 'deleteSession',
  method: 'DELETE',
  path: '/api/sessions/{id}',
  summary: 'Delete a session with its messages',
  description: 'Deletes the session, its messages and its shares. Files and artifacts stay.',
  scopes: ['notebooks:write'],
  owner: 'caller',
  input: { params: idParams },
  output: {
    200: {
      description: "The owner's latest remaining session.",
      schema: z.object({
        newLastNotebookId: z
          .string()
          .nullable()
          .describe('The id of that session; null if the owner has no other session.'),
      }),
    },
  },
  refusals: [{ status: 409, description: 'The session was changed concurrently.' }],
});
