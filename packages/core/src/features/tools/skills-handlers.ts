import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { Skill } from './skill.ts';
import { listSkills, type WireSkill } from './skills-contract.ts';

export interface SkillsServices extends PipelineServices {
  readonly skills: readonly Skill[];
}

/** `GET /api/skills` */
export function createListSkillsHandler(services: SkillsServices): Route {
  const listed = services.skills.filter((skill) => skill.listed === true).map(toWireSkill);
  return defineRoute(listSkills, services, async ({ query: { limit } }) => ({
    data: listed.slice(0, limit),
    hasMore: listed.length > limit,
    total: listed.length,
  }));
}

function toWireSkill(skill: Skill): WireSkill {
  const { id, name, description, instructions, argumentHint, tools, disableModelInvocation } = skill;
  return {
    id,
    name,
    description,
    body: instructions,
    ...(argumentHint !== undefined && { argumentHint }),
    ...(tools !== undefined && { allowedTools: [...tools] }),
    ...(disableModelInvocation !== undefined && { disableModelInvocation }),
  };
}
