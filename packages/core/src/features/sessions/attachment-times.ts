import type { SessionRecord } from './records.ts';

/** The attachment times after a change of the agent list: agents that stay keep their time. */
export function attachmentTimes(
  { agentIds: before = [], agentsAttachedAt = {}, firstCreated }: SessionRecord,
  agentIds: readonly string[] | undefined,
  now: number,
): Pick<SessionRecord, 'agentsAttachedAt'> {
  if (agentIds === undefined) return {};
  const had = new Set(before);
  const getTime = (id: string) => (had.has(id) ? (agentsAttachedAt[id] ?? firstCreated) : now);
  return { agentsAttachedAt: Object.fromEntries(agentIds.map((id) => [id, getTime(id)])) };
}
