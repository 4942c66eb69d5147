import type { Mention } from './mentions.ts';
import type { AgentRecord } from './records.ts';

/** Which tools agents leave to a turn. Plain JSON. */
export interface ToolLimits {
  /** Ids. Absent: all; a list: no others. */
  readonly allowed?: readonly string[];
  readonly denied: readonly string[];
}

/** What the agents in a turn want of it, where the request says nothing itself. */
export interface AgentTerms {
  readonly model?: string | undefined;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  /** Absent: they leave all. */
  readonly tools?: ToolLimits;
}

/**
 * Model, warmth and length are those of the first agent that is attached to the session: anybody may give a public agent
 * any trigger word, and must not choose by it what others pay for. Tools may be taken away by every one of them.
 */
export function termsOf(mentions: readonly Mention[]): AgentTerms {
  const lead = mentions.find(({ isAttached }) => isAttached)?.agent;
  const tools = toolLimitsOf(mentions.map(({ agent }) => agent));
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

/** Undefined: they take none away. */
export function toolLimitsOf(agents: readonly AgentRecord[]): ToolLimits | undefined {
  const denied = [...new Set(agents.flatMap(({ deniedTools = [] }) => deniedTools))];
  const lists = agents.map(({ allowedTools }) => allowedTools).filter((list) => list !== undefined);
  const [first, ...others] = lists;
  if (first === undefined) return denied.length === 0 ? undefined : { denied };
  return { allowed: first.filter((id) => others.every((list) => list.includes(id))), denied };
}
