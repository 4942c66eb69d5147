import * as z from 'zod';
import type { JsonObject } from '../json-rpc.ts';
import { failed, structured, WrongArgument } from '../results.ts';
import { offersSkills, readSkill, toMessage } from '../skills/read.ts';
import { FOLLOWED_SKILL } from './skills.ts';
import { getFields, type McpTool, type Routes, requireText, type ToolCall } from './tool.ts';
import { waitForQuest } from './wait.ts';
import { readTool, startTool, type Work } from './work.ts';

const TITLE_CHARACTERS = 60;

/** The arguments of a run that help a client; the others keep their defaults. */
const OFFERED = ['message', 'agent_id', 'session_id', 'model', 'tools', 'file_ids', 'max_iterations'];

export const EXECUTIONS: Work = {
  kind: 'execution',
  read: 'getAgentExecution',
  cancel: 'cancelAgentExecution',
  wait: waitForQuest,
  getStatus({ status }) {
    if (status === 'pending' || status === 'running') return 'working';
    return status === 'aborted' ? 'cancelled' : 'completed';
  },
  hasFailed: ({ status }) => status === 'failed',
  toResult({ id, session_id, status, answer, error }) {
    const shown = { execution_id: id, session_id, status, answer };
    if (status !== 'failed' && status !== 'aborted') return structured(shown);
    return {
      ...failed(typeof error === 'string' ? error : `The run is ${status}.`),
      structuredContent: shown,
    };
  },
};

export function askAgentTool(routes: Routes): McpTool {
  const body = routes.get('startAgentExecution')?.operation.input.body;
  const all = getFields(body instanceof z.ZodObject ? body : undefined, OFFERED);
  return startTool({
    name: 'ask_agent',
    title: 'Ask an agent',
    description:
      'Gives a task to an agent, or to a model without one, and waits for the answer. A run that takes longer ' +
      'returns its `execution_id`; read it with `get_agent_answer`. Without `session_id`, a new session keeps it.',
    operations: ['startAgentExecution', 'getAgentExecution', 'createSession'],
    work: EXECUTIONS,
    fields: {
      properties: { ...all.properties, ...(offersSkills(routes) && FOLLOWED_SKILL.properties) },
      required: ['message'],
    },
    start,
  });
}

export const getAgentAnswerTool = readTool({
  name: 'get_agent_answer',
  title: 'Get the answer of an agent',
  description: 'Waits for a run of `ask_agent` that has not ended, and returns its answer.',
  operations: ['getAgentExecution'],
  work: EXECUTIONS,
  idName: 'execution_id',
  idDescription: 'The id that `ask_agent` returned.',
});

/** Starts the run. @returns its id. */
async function start({ skill_id: skillId, ...args }: JsonObject, { runner }: ToolCall): Promise<string> {
  const message = requireText(args.message, 'message');
  const given = args.session_id;
  if (given === undefined && runner.isRepeatable) {
    throw new WrongArgument(
      'session_id: required with an Idempotency-Key, so that a repeated call is the same',
    );
  }
  const skill =
    skillId === undefined ? undefined : await readSkill(runner, requireText(skillId, 'skill_id'), 'model');
  const task = skill === undefined ? message : toMessage(skill, message);
  const sessionId = given ?? (await createSession(message, { runner }));
  try {
    const body = { ...args, message: task, session_id: sessionId };
    const { id } = await runner.run('startAgentExecution', { body, isRepeatable: true });
    return String(id);
  } catch (error) {
    if (given === undefined) await forget(String(sessionId), { runner });
    throw error;
  }
}

async function createSession(message: string, { runner }: Pick<ToolCall, 'runner'>): Promise<unknown> {
  const name = message.slice(0, TITLE_CHARACTERS).toWellFormed().trim() || 'Question';
  const { id } = await runner.run('createSession', { body: { name } });
  return id;
}

/** Deletes the session of a run that was refused. The refusal matters more than a session that stays. */
async function forget(id: string, { runner }: Pick<ToolCall, 'runner'>): Promise<void> {
  await runner.run('deleteSession', { params: { id } }).catch(() => undefined);
}
