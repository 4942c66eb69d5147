import { structured } from '../results.ts';
import { listServedSkills, readServedSkill } from '../skills/operations.ts';
import { findSkills, readSkill } from '../skills/read.ts';
import { checkNames, type Fields, type McpTool, objectSchema, requireText } from './tool.ts';

const SKILL_ID: Fields = {
  properties: { skill_id: { type: 'string', description: 'The id that `list_skills` returned.' } },
  required: ['skill_id'],
};

/** The instructions are left out: they belong into the context of a model only when it uses the skill. */
export const listSkillsTool: McpTool = {
  name: 'list_skills',
  title: 'List skills',
  description:
    'Lists the skills of the workspace: instructions for kinds of work. Look for one before you begin work, read it with ' +
    '`read_skill` and follow it, or let `ask_agent` follow it.',
  operations: [listServedSkills.id],
  inputSchema: objectSchema(),
  isReadOnly: true,
  async call(args, { runner }) {
    checkNames(args, []);
    const skills = await findSkills(runner, 'model');
    return structured({
      skills: skills.map(({ instructions: _, for_models: __, ...shown }) => shown),
    });
  },
};

export const readSkillTool: McpTool = {
  name: 'read_skill',
  title: 'Read a skill',
  description: 'Returns the instructions of a skill.',
  operations: [readServedSkill.id],
  inputSchema: objectSchema(SKILL_ID),
  isReadOnly: true,
  async call(args, { runner }) {
    checkNames(args, [SKILL_ID]);
    const { for_models: _, ...shown } = await readSkill(
      runner,
      requireText(args.skill_id, 'skill_id'),
      'model',
    );
    return structured(shown);
  },
};

/** The argument of `ask_agent`. */
export const FOLLOWED_SKILL: Fields = {
  properties: {
    skill_id: {
      type: 'string',
      description: 'The id of a skill of `list_skills` whose instructions the run follows.',
    },
  },
  required: [],
};
