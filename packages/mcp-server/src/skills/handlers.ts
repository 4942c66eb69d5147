import { ApiError, defineRoute, type Route, type Services } from '@questline/core';
import { listServedSkills, readServedSkill, type WireSkill } from './operations.ts';

/** The operations behind tools, prompts and files of skills. None without skills that the host lists. */
export function createSkillHandlers(services: Services): readonly Route[] {
  const skills = services.skills.filter(({ listed }) => listed === true).map(toWireSkill);
  if (skills.length === 0) return [];
  return [
    defineRoute(listServedSkills, services, async () => ({ skills })),
    defineRoute(readServedSkill, services, async ({ params }) => {
      const found = skills.find(({ id }) => id === params.id);
      // Skills that are not listed are unknown here.
      if (found === undefined) throw new ApiError(404, 'Skill not found');
      return found;
    }),
  ];
}

function toWireSkill({
  id,
  name,
  description,
  instructions,
  argumentHint,
  disableModelInvocation,
}: Services['skills'][number]): WireSkill {
  return {
    id,
    name,
    description,
    instructions,
    for_models: disableModelInvocation !== true,
    ...(argumentHint !== undefined && { argument_hint: argumentHint }),
  };
}
