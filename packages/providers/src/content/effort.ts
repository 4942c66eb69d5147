import type { GenerateRequest } from '@questline/core/ports';

export type Effort = NonNullable<GenerateRequest['reasoningEffort']>;

/** Converts a thinking budget for models that need an effort level. */
export function chooseEffort({ reasoningEffort, thinking }: GenerateRequest): Effort | undefined {
  if (reasoningEffort !== undefined || thinking === undefined) return reasoningEffort;
  if (thinking.budgetTokens <= 4096) return 'low';
  return thinking.budgetTokens <= 16_384 ? 'medium' : 'high';
}
