import type { GenerateRequest } from '@questline/core';

export type Effort = NonNullable<GenerateRequest['reasoningEffort']>;

/** For models that take an effort where the caller named a budget. */
export function effortOf({ reasoningEffort, thinking }: GenerateRequest): Effort | undefined {
  if (reasoningEffort !== undefined || thinking === undefined) return reasoningEffort;
  if (thinking.budgetTokens <= 4096) return 'low';
  return thinking.budgetTokens <= 16_384 ? 'medium' : 'high';
}
