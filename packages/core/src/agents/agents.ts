import { type ApiError, forbidden, notFound } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Store } from '../ports/store.ts';
import type { Switches } from '../settings/admin.ts';
import { AGENTS, type AgentPersonality, type AgentRecord, canUseAgent } from './records.ts';

export interface AgentMakerServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly switches: Switches;
}

const NO_PERSONALITY: AgentPersonality = {
  majorMotivation: '',
  minorMotivation: '',
  characterFlaw: '',
  uniqueQuirk: '',
  responseStyle: '',
};

/** What may be told of an agent. A field that is there and undefined is unset. */
export interface AgentChange
  extends Partial<
    Omit<
      AgentRecord,
      'id' | 'ownerId' | 'readerIds' | 'writerIds' | 'personality' | 'createdAt' | 'updatedAt'
    >
  > {
  /** Only the traits that change. */
  readonly personality?: Partial<AgentPersonality> | undefined;
}

/** @throws ApiError of `limitReached` when the owner has as many agents as there may be. */
export async function makeAgent(
  { store, clock, ids, switches }: AgentMakerServices,
  ownerId: string,
  { personality, ...wish }: AgentChange & Pick<AgentRecord, 'name'>,
  limitReached: (most: number) => ApiError,
): Promise<AgentRecord> {
  const { MaxAgentsPerUser } = await switches.current();
  const now = clock.now();
  const agent: AgentRecord = {
    id: ids.next(),
    ownerId,
    description: '',
    triggerWords: [],
    isPublic: false,
    personality: { ...NO_PERSONALITY, ...personality },
    capabilities: [],
    createdAt: now,
    updatedAt: now,
    ...wish,
  };
  // Counted and written in one transaction: of parallel makers none gets beyond the limit.
  await store.transaction(async (inner) => {
    const agents = inner.collection(AGENTS);
    if ((await agents.count({ ownerId })) >= MaxAgentsPerUser) throw limitReached(MaxAgentsPerUser);
    await agents.insert(agent);
  });
  return agent;
}

/** @returns the agent as it is now; undefined for one that is not the user's own. */
export function changeAgent(
  { store, clock }: Pick<AgentMakerServices, 'store' | 'clock'>,
  ownerId: string,
  id: string,
  { personality, ...change }: AgentChange,
): Promise<AgentRecord | undefined> {
  const patch = { ...change, updatedAt: clock.now() };
  if (personality === undefined) return store.collection(AGENTS).update(id, patch, { ownerId });
  return store.transaction(async (inner) => {
    const agents = inner.collection(AGENTS);
    const before = await agents.get(id, { ownerId });
    if (before === undefined) return undefined;
    return agents.update(
      id,
      { ...patch, personality: { ...before.personality, ...personality } },
      { ownerId },
    );
  });
}

/** @throws ApiError 404 for an agent that the user may not see. */
export async function usableAgent(store: Store, userId: string, id: string): Promise<AgentRecord> {
  const agent = await store.collection(AGENTS).get(id, canUseAgent(userId));
  if (agent === undefined) throw agentNotFound();
  return agent;
}

/** @throws ApiError 403 while the administrator has switched agents off. */
export async function requireAgents(switches: Switches): Promise<void> {
  if (!(await switches.current()).EnableAgents) throw forbidden('Agents are switched off');
}

export function agentNotFound(): ApiError {
  return notFound('Agent', 'AGENT_NOT_FOUND');
}
