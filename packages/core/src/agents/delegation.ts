import * as z from 'zod';
import { isApiError } from '../errors.ts';
import type { Store } from '../ports/store.ts';
import { canEditSession } from '../sessions/access.ts';
import { SESSIONS } from '../sessions/records.ts';
import type { Switches } from '../settings/admin.ts';
import type { ToolContext, ToolOffer, ToolRegistry, ToolResult, ToolScope } from '../tools/registry.ts';
import { answered, defineTool, failed } from '../tools/tool.ts';
import { createToolbox } from '../tools/toolbox.ts';
import { toAgentCard } from './events.ts';
import { personaOf } from './persona.ts';
import { AGENTS, type AgentRecord, canUseAgent } from './records.ts';

export const DELEGATE_TO_AGENT = 'delegate_to_agent';

/** So many are told of in one turn. */
const MOST_AGENTS = 20;
const SHOWN_DESCRIPTION = 200;

const ROLE =
  'Another assistant gives you a task out of a conversation that you do not see. Do it and hand in the result alone; ' +
  'nobody answers questions.';

/**
 * `delegate_to_agent`: gives a task to an agent the caller may use. Offered to turns that have to do with agents, while
 * there are any: those of the session first, then the caller's own, then public ones.
 */
export function delegationTools(services: {
  readonly store: Store;
  readonly switches: Switches;
}): ToolRegistry {
  const agents = services.store.collection(AGENTS);
  const sessions = services.store.collection(SESSIONS);

  const usable = async ({
    userId,
    sessionId,
    agents: wanted,
  }: ToolScope): Promise<readonly AgentRecord[]> => {
    if (wanted !== true || !(await services.switches.current()).EnableAgents) return [];
    const { agentIds = [] } = (await sessions.get(sessionId, canEditSession(userId))) ?? {};
    const attached = await Promise.all(agentIds.map((id) => agents.get(id, canUseAgent(userId))));
    const newest = { order: { field: 'createdAt', direction: 'desc' }, limit: MOST_AGENTS } as const;
    const own = await agents.find({ ownerId: userId }, newest);
    const open = await agents.find({ isPublic: true }, newest);
    const found = [...attached, ...own, ...open].filter((agent) => agent !== undefined);
    return [...new Map(found.map((agent) => [agent.id, agent])).values()].slice(0, MOST_AGENTS);
  };

  const run = async (
    { agent: wanted, task }: { readonly agent: string; readonly task: string },
    context: ToolContext,
  ): Promise<ToolResult> => {
    const { consult } = context;
    if (consult === undefined) return failed('Nobody can be given work from here. Do it yourself.');
    const known = await usable(context);
    const name = wanted.trim().replace(/^@/, '').toLowerCase();
    const agent = known.find((one) => one.id === name || one.name.toLowerCase() === name);
    if (agent === undefined) return failed(`There is no agent ${wanted}. There are: ${namesOf(known)}.`);
    const { allowedTools, deniedTools = [] } = agent;
    try {
      const result = await consult({
        agent: toAgentCard(agent),
        system: `${personaOf(agent).text}\n\n${ROLE}`,
        task,
        mayUse: (id) => !deniedTools.includes(id) && allowedTools?.includes(id) !== false,
      });
      if (result.trim() === '') return failed(`${agent.name} has said nothing.`);
      return answered(result, { type: 'agent', payload: { id: agent.id, name: agent.name, task, result } });
    } catch (error) {
      context.signal.throwIfAborted();
      if (!isApiError(error)) throw error;
      return failed(`${agent.name} could not do it: ${error.message}`);
    }
  };

  const toolbox = createToolbox([
    defineTool({
      id: DELEGATE_TO_AGENT,
      description: '',
      input: z.object({
        agent: z.string().min(1).meta({ description: "The agent's name." }),
        task: z.string().min(1).max(8000).meta({
          description: 'What is to be done, with all that must be known for it: the agent sees nothing else.',
        }),
      }),
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
  return `Gives a task to one of these agents, and tells what came out. Use it for what an agent does better than you.\n${list.join('\n')}`;
}

function namesOf(agents: readonly AgentRecord[]): string {
  return agents.map(({ name }) => name).join(', ');
}
