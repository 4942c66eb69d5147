import * as z from 'zod';
import { pageQuery } from '../http/cursor.ts';
import { idParams } from '../http/identifiers.ts';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';

const tag = z.object({ name: z.string(), strength: z.number() });

export const session = z.object({
  id: z.string(),
  name: z.string(),
  userId: z.string().meta({ description: 'The owner.' }),
  knowledgeIds: z.array(z.string()),
  artifactIds: z.array(z.string()),
  agentIds: z.array(z.string()),
  tags: z.array(tag),
  summary: z.string().optional().meta({ description: 'Where sessions are looked through after a turn.' }),
  projectId: z.string().nullable(),
  lastUsedModel: z.string().nullable(),
  forceKnowledgeRetrieval: z.boolean(),
  retrievalTags: z.array(z.string()),
  includeLibraryFiles: z.boolean(),
  firstCreated: z.iso.datetime(),
  lastUpdated: z.iso.datetime(),
});

const settings = {
  knowledgeIds: z.array(z.string()).optional(),
  artifactIds: z.array(z.string()).optional(),
  agentIds: z.array(z.string()).optional(),
  tags: z.array(tag).optional(),
  forceKnowledgeRetrieval: z.boolean().optional(),
  retrievalTags: z.array(z.string()).optional(),
  includeLibraryFiles: z.boolean().optional(),
  dataLakeId: z.string().optional(),
  systemPromptText: text({ max: 16_000 }).optional().meta({ description: 'Written, never shown.' }),
  enabledTools: z.array(z.string()).optional(),
  disabledTools: z.array(z.string()).optional(),
  temperature: z.number().min(0).max(2).optional(),
  maxToolCalls: z.number().gt(0).optional(),
};

const name = text({ min: 1, max: 255 });

export type WireSession = z.input<typeof session>;

const common = {
  tag: 'Sessions',
  auth: 'key-or-token',
  family: 'public',
  subject: 'Session',
  rate: { key: 'standard', user: 'unlimited' },
} as const;

export const listSessions = defineOperation({
  ...common,
  id: 'listSessions',
  method: 'GET',
  path: '/api/v1/sessions',
  summary: "List the caller's sessions, newest first",
  scopes: ['notebooks:read', 'notebooks:write'],
  rate: { key: 'day-exempt', user: 'unlimited' },
  owner: 'caller',
  input: {
    query: pageQuery.extend({
      search: text({ max: 200 }).optional().meta({ description: 'Part of the name.' }),
    }),
  },
  output: {
    200: {
      description: 'A page of sessions.',
      schema: z.object({ data: z.array(session), next_cursor: z.string().nullable() }),
    },
  },
});

export const createSession = defineOperation({
  ...common,
  id: 'createSession',
  method: 'POST',
  path: '/api/v1/sessions',
  summary: 'Create a session',
  scopes: ['notebooks:write'],
  owner: 'caller',
  input: { body: z.object({ name, ...settings }) },
  output: { 200: { description: 'The session.', schema: session } },
  refusals: [{ status: 404, description: 'Something it points at is unknown to the caller.' }],
});

export const cloneSession = defineOperation({
  ...common,
  id: 'cloneSession',
  method: 'POST',
  path: '/api/v1/sessions/{id}/clone',
  summary: 'Copy a session with its messages and links',
  scopes: ['notebooks:write'],
  owner: 'caller-or-shared',
  input: {
    params: idParams,
    body: z.object({ targetSurface: z.string().optional().meta({ description: 'Without effect.' }) }),
  },
  output: { 200: { description: 'The copy.', schema: session } },
});

export const getSession = defineOperation({
  ...common,
  id: 'getSession',
  method: 'GET',
  path: '/api/sessions/{id}',
  summary: 'Read a session',
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
  summary: 'Change what is named of a session',
  scopes: ['notebooks:write'],
  owner: 'caller-or-shared',
  input: { params: idParams, body: z.object({ name: name.optional(), ...settings }) },
  output: { 200: { description: 'The session as it is now.', schema: session } },
});

export const deleteSession = defineOperation({
  ...common,
  id: 'deleteSession',
  method: 'DELETE',
  path: '/api/sessions/{id}',
  summary: 'Delete a session with its messages',
  scopes: ['notebooks:write'],
  owner: 'caller',
  input: { params: idParams },
  output: {
    200: {
      description: "The owner's latest session now.",
      schema: z.object({ newLastNotebookId: z.string().nullable() }),
    },
  },
  refusals: [{ status: 409, description: 'It was changed at the same time.' }],
});
