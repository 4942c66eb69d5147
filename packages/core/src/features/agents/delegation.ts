import * as z from 'zod';
import { canRead } from '../../access/access.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { describeWithoutSums, isApiError } from '../../shared/errors.ts';
import type { ToolContext, ToolOffer, ToolRegistry, ToolResult, ToolScope } from '../../tools/registry.ts';
import { answered, defineTool, failed } from '../../tools/tool.ts';
import { createToolbox } from '../../tools/toolbox.ts';
import { canEditSession } from '../sessions/access.ts';
import { SESSIONS } from '../sessions/records.ts';
import { toAgentCard } from './events.ts';
import { toPersona } from './persona.ts';
import type { AgentReach } from './reach.ts';
import { AGENTS, type AgentRecord } from './records.ts';

export const DELEGATE_TO_AGENT = 'delegate_to_agent';

/** The maximum number of agents that one turn offers to the model. */
const MAX_AGENTS = 20;
const SHOWN_DESCRIPTION = 200;

const TASK = z.object({
  agent: z.string().min(1).meta({ description: "The agent's name." }),
  task: z.string().min(1).max(8000).meta({
    description: 'The task, with all necessary context: the agent sees nothing else.',
  }),
});

const ROLE =
  'Another assistant gives you a task out of a conversation that you do not see. Do it and hand in the result alone; ' +
  'no user answers questions.';

/**
 * `delegate_to_agent`: gives a task to an agent that the caller may use. Offered only to turns that involve agents. Lists
 * the agents of the session first, then the caller's own, then shared ones, then published ones.
 */
export function delegationTools(services: {
  readonly store: Store;
  readonly adminSettings: AdminSettingsReader;
  readonly agentReach: AgentReach;
}): ToolRegistry {
  const agents = services.store.collection(AGENTS);
  const sessions = services.store.collection(SESSIONS);

  const reach = services.agentReach;
  const newest = (which: Filter<AgentRecord>): Promise<readonly AgentRecord[]> =>
    agents.find(which, { order: { field: 'createdAt', direction: 'desc' }, limit: MAX_AGENTS });

  const usable = async ({
    userId,
    sessionId,
    agents: wanted,
  }: ToolScope): Promise<readonly AgentRecord[]> => {
    if (wanted !== true || !(await services.adminSettings.current()).EnableAgents) return [];
    const session = await sessions.get(sessionId, canEditSession(userId));
    const attached = session === undefined ? [] : await reach.attached(userId, session);
    // Without repetitions: an own agent is also one that the user can read.
    const found = new Map(attached.map((agent) => [agent.id, agent]));
    for (const which of [{ ownerId: userId }, canRead(userId), await reach.published()]) {
      if (found.size < MAX_AGENTS) for (const agent of await newest(which)) found.set(agent.id, agent);
    }
    return [...found.values()].slice(0, MAX_AGENTS);
  };

  const run = async (
    { agent: wanted, task }: { readonly agent: string; readonly task: string },
    context: ToolContext,
  ): Promise<ToolResult> => {
    const { consult } = context;
    if (consult === undefined) return failed('Delegation is not available here. Do the task yourself.');
    const known = await usable(context);
    const name = wanted.trim().replace(/^@/, '').toLowerCase();
    const agent = known.find((one) => one.id === name || one.name.toLowerCase() === name);
    if (agent === undefined)
      return failed(`There is no agent ${wanted}. Available agents: ${getNames(known)}.`);
    const { allowedTools, deniedTools = [] } = agent;
    try {
      const result = await consult({
        agent: toAgentCard(agent),
        system: `${toPersona(agent, context.userId).text}\n\n${ROLE}`,
        task,
        mayUse: (id) => !deniedTools.includes(id) && allowedTools?.includes(id) !== false,
      });
      if (result.trim() === '') return failed(`${agent.name} returned no text.`);
      return answered(result, { type: 'agent', payload: { id: agent.id, name: agent.name, task, result } });
    } catch (error) {
      context.signal.throwIfAborted();
      if (!isApiError(error)) throw error;
      return failed(`${agent.name} failed: ${describeWithoutSums(error)}`);
    }
  };

  const toolbox = createToolbox([
    defineTool({
      id: DELEGATE_TO_AGENT,
      description: '',
      input: TASK,
      offered: 'automatic',
      run,
    }),
  ]);

  const offerFor = async (
    scope: ToolScope,
  ): Promise<{ offer: ToolOffer; known: readonly AgentRecord[] } | undefined> => {
    const known = await usable(scope);
    const offer = await toolbox.find(DELEGATE_TO_AGENT, scope);
    if (known.length === 0 || offer === undefined) return undefined;
    return { known, offer: { ...offer, schema: { ...offer.schema, description: describe(known) } } };
  };

  const offersFor = async (scope: ToolScope): Promise<readonly ToolOffer[]> => {
    const found = await offerFor(scope);
    return found === undefined ? [] : [found.offer];
  };

  return {
    list: (scope) => (scope.agents === true ? offersFor(scope) : []),
    find: (id, scope) =>
      id === DELEGATE_TO_AGENT && scope.agents === true
        ? offersFor(scope).then(([offer]) => offer)
        : undefined,
    async select(message, scope) {
      const found = scope.agents === true ? await offerFor(scope) : undefined;
      if (found === undefined) return [];
      const words = message.toLowerCase();
      return found.known.some(({ name }) => words.includes(name.toLowerCase())) ? [found.offer] : [];
    },
    run: (call, context) => toolbox.run(call, context),
  };
}

function describe(agents: readonly AgentRecord[]): string {
  const list = agents.map(({ name, description }) => {
    const about = [...description].slice(0, SHOWN_DESCRIPTION).join('').replace(/\s+/g, ' ');
    return about === '' ? `- ${name}` : `- ${name}: ${about}`;
  });
  return `Gives a task to one of these agents, and returns its result. Use it for what an agent does better than you.\n${list.join('\n')}`;
}

function getNames(agents: readonly AgentRecord[]): string {
  return agents.map(({ name }) => name).join(', ');
}
