import { AGENTS, type AgentRecord } from '@questline/core';
import type { World } from './world.ts';

/** Writes an agent down, as if somebody had made it. */
export async function addAgent(
  { services, user }: World,
  wish: Partial<AgentRecord> & Pick<AgentRecord, 'id' | 'name'>,
): Promise<AgentRecord> {
  const now = services.clock.now();
  const agent: AgentRecord = {
    ownerId: user.id,
    description: '',
    triggerWords: [`@${wish.name.toLowerCase()}`],
    isPublic: false,
    personality: {
      majorMotivation: '',
      minorMotivation: '',
      characterFlaw: '',
      uniqueQuirk: '',
      responseStyle: '',
    },
    capabilities: [],
    createdAt: now,
    updatedAt: now,
    ...wish,
  };
  await services.store.collection(AGENTS).insert(agent);
  return agent;
}
