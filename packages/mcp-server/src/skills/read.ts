import type { JsonObject } from '../json-rpc.ts';
import { OperationRefused, type Runner } from '../runner.ts';
import type { Routes } from '../tools/tool.ts';
import { listServedSkills, readServedSkill, type WireSkill } from './operations.ts';

/** Whether the server offers skills. */
export function offersSkills(routes: Routes): boolean {
  return routes.has(listServedSkills.id);
}

/** Lists the skills that users choose, or those that models may load. @throws OperationRefused */
export async function findSkills(runner: Runner, reader: 'user' | 'model'): Promise<readonly WireSkill[]> {
  const { skills } = (await runner.run(listServedSkills.id)) as JsonObject & {
    readonly skills: readonly WireSkill[];
  };
  return skills.filter(({ for_models: forModels }) => reader === 'user' || forModels);
}

/** @throws OperationRefused 404 for a skill that is unknown to the reader. */
export async function readSkill(runner: Runner, id: string, reader: 'user' | 'model'): Promise<WireSkill> {
  const skill = (await runner.run(readServedSkill.id, { params: { id } })) as unknown as WireSkill;
  if (reader === 'model' && !skill.for_models) throw new OperationRefused(404, 'Skill not found', undefined);
  return skill;
}

/** The message of a user who chooses a skill. @param input what the user writes after its name. */
export function toMessage({ name, instructions }: WireSkill, input = ''): string {
  return [`Follow the instructions of the skill "${name}":`, instructions, input]
    .filter((part) => part !== '')
    .join('\n\n');
}
