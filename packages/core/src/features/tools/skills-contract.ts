import * as z from 'zod';
import { defineOperation } from '../../contract/operation.ts';

const skill = z.object({
  id: z.string().meta({ description: 'The id of the skill.' }),
  name: z.string().meta({ description: 'Its name for people.' }),
  description: z.string().meta({ description: 'When to use it.' }),
  body: z.string().meta({ description: 'The instructions.' }),
  argumentHint: z.string().optional().meta({ description: 'What a user may write after its name.' }),
  allowedTools: z
    .array(z.string())
    .optional()
    .meta({ description: 'Ids of tools that the instructions use.' }),
  disableModelInvocation: z
    .boolean()
    .optional()
    .meta({ description: 'True: models do not load it by themselves.' }),
});

export type WireSkill = z.input<typeof skill>;

export const listSkills = defineOperation({
  id: 'listSkills',
  method: 'GET',
  path: '/api/skills',
  tag: 'Memory',
  summary: 'List the skills that the workspace shows to clients',
  description: 'Only skills that the host lists. Models can load others, too.',
  auth: 'key-or-token',
  scopes: ['ai:chat', 'ai:generate'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'public',
  family: 'public',
  side: 'application',
  input: {
    query: z.object({
      limit: z
        .string()
        .regex(/^(?:[1-9]\d?|100)$/, 'expected a whole number from 1 to 100')
        .transform(Number)
        .default(100)
        .meta({
          type: 'integer',
          minimum: 1,
          maximum: 100,
          default: 100,
          description: 'The maximum number of skills in the answer, 1 to 100.',
        }),
    }),
  },
  output: {
    200: {
      description: 'The skills, in the order of the host.',
      schema: z.object({
        data: z.array(skill).meta({ description: 'The skills.' }),
        hasMore: z.boolean().meta({ description: 'Whether there are more skills than the limit.' }),
        total: z.int().min(0).meta({ description: 'The number of listed skills.' }),
      }),
    },
  },
});
