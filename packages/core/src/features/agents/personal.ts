import type { PersonalData } from '../../operations/personal-data.ts';
import { type AgentDeletionServices, deleteOwnAgent } from './deletion.ts';
import { AGENTS } from './records.ts';

export function personalAgents(services: AgentDeletionServices): PersonalData {
  return {
    erase: [
      {
        shape: AGENTS,
        erase: async ({ id }, userId) => void (await deleteOwnAgent(services, userId, id)),
      },
    ],
  };
}
