import { AGENTS, type AgentRecord } from '@questline/core/internal';
import { NO_TRAITS } from './agent-records.ts';
import type { TestApp } from './test-app.ts';

/** Adds the record of an agent. A public one is approved by default. */
export async function addAgent(
  { services, user }: TestApp,
  input: Partial<AgentRecord> & Pick<AgentRecord, 'id' | 'name'>,
): Promise<AgentRecord> {
  const now = services.clock.now();
  const agent: AgentRecord = {
    ownerId: user.id,
    description: '',
    triggerWords: [`@${input.name.toLowerCase()}`],
    isPublic: false,
    personality: NO_TRAITS,
    capabilities: [],
    createdAt: now,
    updatedAt: now,
    ...(input.isPublic === true && { publication: 'approved' }),
    ...input,
  };
  await services.store.collection(AGENTS).insert(agent);
  return agent;
}
