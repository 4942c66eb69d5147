import type { AgentRecord } from '@questline/core/internal';

export const NO_TRAITS: AgentRecord['personality'] = {
  majorMotivation: '',
  minorMotivation: '',
  characterFlaw: '',
  uniqueQuirk: '',
  responseStyle: '',
};

export const toAgentId = (number: number): string => number.toString(16).padStart(24, '0');

/** The agent `n0`, `n1` and so on, in the order of their creation. It belongs to `ada` by default. */
export function toAgent(number: number, more: Partial<AgentRecord> = {}): AgentRecord {
  return {
    ...{ id: toAgentId(number), ownerId: 'ada', name: `n${number}`, description: '', triggerWords: [] },
    ...{ isPublic: false, personality: NO_TRAITS, capabilities: [], createdAt: number, updatedAt: number },
    ...more,
  };
}
