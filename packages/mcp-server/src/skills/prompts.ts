import { checkOnePage, INVALID_PARAMS, isObject, type JsonObject, RpcError } from '../json-rpc.ts';
import { orRefused } from '../refusals.ts';
import type { Runner } from '../runner.ts';
import { findSkills, readSkill, toMessage } from './read.ts';

/** The argument of each prompt. */
const INPUT = 'input';

/** Skills are prompts: users choose them, such as by a slash command. */
export async function listPrompts(params: JsonObject, runner: Runner): Promise<JsonObject> {
  checkOnePage(params);
  const skills = await orRefused(() => findSkills(runner, 'user'), notFound);
  return {
    prompts: skills.map(({ id, name, description, argument_hint: hint }) => ({
      name: id,
      title: name,
      description,
      arguments: [{ name: INPUT, description: hint ?? 'The task.', required: false }],
    })),
  };
}

/** @throws RpcError for an unknown prompt and for wrong arguments. */
export async function getPrompt(params: JsonObject, runner: Runner): Promise<JsonObject> {
  const { name, arguments: args = {} } = params;
  if (typeof name !== 'string') throw new RpcError(INVALID_PARAMS, 'name: expected text');
  if (!isObject(args)) throw new RpcError(INVALID_PARAMS, 'arguments: expected an object');
  for (const [key, value] of Object.entries(args)) {
    if (key !== INPUT) throw new RpcError(INVALID_PARAMS, `${key.slice(0, 100)}: unknown argument`);
    if (typeof value !== 'string') throw new RpcError(INVALID_PARAMS, `${key}: expected text`);
  }
  const skill = await orRefused(() => readSkill(runner, name, 'user'), notFound);
  const text = toMessage(skill, args[INPUT] as string | undefined);
  return {
    description: skill.description,
    messages: [{ role: 'user', content: { type: 'text', text } }],
  };
}

function notFound(): RpcError {
  return new RpcError(INVALID_PARAMS, 'Prompt not found');
}
