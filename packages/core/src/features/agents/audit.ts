import { defineAuditSource } from '../../operations/audit-source.ts';
import { AGENTS, type AgentRecord } from './records.ts';

/** Decisions about the publication of agents. Their content stays private. */
export const agentAudit = defineAuditSource<AgentRecord>({
  collection: AGENTS,
  fields: ['publication'],
  toEntries({ before, after }) {
    const publication = after?.publication;
    if (after === undefined || publication === undefined || publication === before?.publication) return [];
    const target = { type: 'agent', id: after.id };
    return [{ action: `agent.${publication}`, target, targetOwner: after.ownerId }];
  },
});
