import type { Usage } from '../ports/ledger.ts';

/** Token counts on the wire. */
export type WireUsage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadInputTokens?: number;
  readonly cacheCreationInputTokens?: number;
};

/** Token counts as completions and quests tell them; cache counts only where there are any. */
export function wireUsage(usage: Usage): WireUsage {
  return {
    inputTokens: usage.input ?? 0,
    outputTokens: (usage.output ?? 0) + (usage.reasoning ?? 0),
    ...(usage.cachedInput !== undefined && { cacheReadInputTokens: usage.cachedInput }),
    ...(usage.cacheWrite !== undefined && { cacheCreationInputTokens: usage.cacheWrite }),
  };
}
