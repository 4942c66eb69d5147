import type { Mention } from './mentions.ts';
import type { AgentRecord } from './records.ts';

/** Limits that agents set on the tools of a turn. Plain JSON. */
export interface ToolLimits {
  /** Ids of the allowed tools. Absent: all. */
  readonly allowed?: readonly string[];
  readonly denied: readonly string[];
}

/** Options of the agents in a turn; they apply where the request sets none. */
export interface AgentOptions {
  readonly model?: string | undefined;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  /** Absent: no limits. */
  readonly tools?: ToolLimits;
}

/**
 * Model, temperature and length come from the first agent that is attached to the session or owned by the user: other
 * owners choose the trigger words of their agents, which must not decide what the user pays for. Every agent may deny
 * tools.
 */
export function getAgentOptions(mentions: readonly Mention[]): AgentOptions {
  const lead = mentions.find(({ isChosen }) => isChosen)?.agent;
  const tools = getToolLimits(mentions.map(({ agent }) => agent));
  return {
    model: lead?.preferredModel,
    temperature: lead?.temperature,
    maxTokens: lead?.maxTokens,
    ...(tools !== undefined && { tools }),
  };
}

export function permits({ allowed, denied }: ToolLimits, toolId: string): boolean {
  return !denied.includes(toolId) && (allowed === undefined || allowed.includes(toolId));
}

/** Undefined: no limits. */
export function getToolLimits(agents: readonly AgentRecord[]): ToolLimits | undefined {
  const denied = [...new Set(agents.flatMap(({ deniedTools = [] }) => deniedTools))];
  const lists = agents.map(({ allowedTools }) => allowedTools).filter((list) => list !== undefined);
  const [first, ...others] = lists;
  if (first === undefined) return denied.length === 0 ? undefined : { denied };
  return { allowed: first.filter((id) => others.every((list) => list.includes(id))), denied };
}
