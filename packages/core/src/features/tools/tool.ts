import * as z from 'zod';
import { answered, defineTool, failed, type Tool } from '../../tools/tool.ts';
import type { Skill } from './skill.ts';

/** The tool that returns the instructions of a skill. Undefined without skills. */
export function skillTools(all: readonly Skill[]): Tool[] {
  const skills = all.filter(({ disableModelInvocation }) => disableModelInvocation !== true);
  if (skills.length === 0) return [];
  const byId = new Map(skills.map((skill) => [skill.id, skill]));
  const list = skills.map(({ id, name, description }) => `- ${id} (${name}): ${description}`).join('\n');
  return [
    defineTool({
      id: 'use_skill',
      description: `Loads instructions for a kind of work. Use it before you begin work that one of these is about, then follow what it says.\n${list}`,
      input: z.object({ skill: z.string().meta({ description: 'Its id, e.g. the first word of a line.' }) }),
      // An automatic offer of the server, so callers can skip it with the other automatic offers.
      offered: 'automatic',
      fits: fitting(skills),
      run({ skill }) {
        const found = byId.get(skill.trim());
        if (found === undefined)
          return failed(`There is no skill ${skill}. Available skills: ${[...byId.keys()].join(', ')}.`);
        const { name, instructions, tools = [] } = found;
        return { ...answered(`Instructions of the skill "${name}":\n\n${instructions}`), unlocks: tools };
      },
    }),
  ];
}

/** Whether a message contains a skill's id or name. */
function fitting(skills: readonly Skill[]): RegExp {
  const words = skills.flatMap(({ id, name }) => [id, name, id.replace(/[-_]/g, ' ')]);
  const safe = [...new Set(words)].map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:skill|${safe.join('|')})(?![\\p{L}\\p{N}])`, 'iu');
}
