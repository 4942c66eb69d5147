import type { GenerateRequest } from '@questline/core';
import type { AiSdkCall, AiSdkLanguageModel } from './models.ts';

/** Models of Anthropic that think by a number of tokens. The list is closed: all later ones adapt to an effort. */
const budgetClaude = /claude-(3-|(opus|sonnet|haiku)-4([-@](0|1|5|20\d{6})\b|$))/;
/** Anthropic's own lower bound. */
const leastBudget = 1024;
const share = { low: 0.25, medium: 0.5, high: 0.75 };

/**
 * How much a model may think. The newest interface has efforts of its own, which most vendors follow within the output
 * cap. Anthropic's package adds a budget on top of the cap instead, so there the cap is lowered by the budget: what may
 * be written in all, and was reserved for, stays `maxTokens`.
 */
export function thinkingOf(
  model: AiSdkLanguageModel,
  request: GenerateRequest,
): Pick<AiSdkCall, 'maxOutputTokens' | 'reasoning' | 'providerOptions'> {
  const { maxTokens, thinking, reasoningEffort } = request;
  if (thinking === undefined && reasoningEffort === undefined) return { maxOutputTokens: maxTokens };
  if (model.provider.includes('anthropic') && budgetClaude.test(model.modelId)) {
    const wanted = thinking?.budgetTokens ?? Math.floor(maxTokens * share[reasoningEffort ?? 'medium']);
    const budgetTokens = Math.min(Math.max(wanted, leastBudget), maxTokens - 1);
    if (budgetTokens < leastBudget) return { maxOutputTokens: maxTokens };
    return {
      maxOutputTokens: maxTokens - budgetTokens,
      providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens } } },
    };
  }
  return { maxOutputTokens: maxTokens, reasoning: reasoningEffort ?? effortOf(thinking?.budgetTokens ?? 0) };
}

function effortOf(budgetTokens: number): 'low' | 'medium' | 'high' {
  if (budgetTokens <= 4096) return 'low';
  return budgetTokens <= 16_384 ? 'medium' : 'high';
}
