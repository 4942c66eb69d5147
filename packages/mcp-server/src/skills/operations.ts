import { defineOperation } from '@questline/core';
import * as z from 'zod';

const common = {
  auth: 'key-or-token',
  scopes: ['ai:chat', 'ai:generate'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'public',
  family: 'public',
} as const;

const skill = z.object({
  id: z.string().describe('The id of the skill.'),
  name: z.string().describe('Its name for people.'),
  description: z.string().describe('When to use it.'),
  instructions: z.string().describe('How to do the work.'),
  argument_hint: z.string().optional().describe('What a user may write after its name.'),
  for_models: z.boolean().describe('Whether models may load it. False: only users choose it.'),
});

export type WireSkill = z.input<typeof skill>;

/** All listed skills: the operation `listSkills` of the API ends after 100. */
export const listServedSkills = defineOperation({
  ...common,
  id: 'listServedSkills',
  method: 'GET',
  path: '/api/skills',
  summary: 'List the skills with their instructions',
  input: {},
  output: {
    200: {
      description: 'The skills, in the order of the host.',
      schema: z.object({ skills: z.array(skill).describe('The skills.') }),
    },
  },
});

export const readServedSkill = defineOperation({
  ...common,
  id: 'readServedSkill',
  method: 'GET',
  path: '/api/skills/{id}',
  summary: 'Read a skill with its instructions',
  subject: 'Skill',
  input: { params: z.object({ id: z.string().max(64).describe('The id of the skill.') }) },
  output: { 200: { description: 'The skill.', schema: skill } },
});
