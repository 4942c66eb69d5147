import type { GenerateRequest } from '@questline/core/ports';
import type { AiSdkCall, AiSdkLanguageModel } from './models.ts';

/** Anthropic models whose thinking takes a token budget. The list is closed: later models take an effort. */
const budgetClaude = /claude-(3-|(opus|sonnet|haiku)-4([-@](0|1|5|20\d{6})\b|$))/;
/** Anthropic's minimum budget. */
const minBudget = 1024;
/** Output tokens reserved for the answer, and the share of small caps. */
const answerTokens = 1000;
const answerShare = 0.25;
const share = { none: 0, minimal: 0.1, low: 0.25, medium: 0.5, high: 0.75, xhigh: 0.9 };

/**
 * How much a model may think. Version 4 has effort levels, which most vendors keep within the output cap. Anthropic's
 * package adds the budget to the cap instead, so the cap is lowered by the budget: the total output, for which credit is
 * reserved, stays `maxTokens`.
 */
export function toThinking(
  model: AiSdkLanguageModel,
  request: GenerateRequest,
): Pick<AiSdkCall, 'maxOutputTokens' | 'reasoning' | 'providerOptions'> {
  const { maxTokens, thinking, reasoningEffort } = request;
  if (thinking === undefined && reasoningEffort === undefined) return { maxOutputTokens: maxTokens };
  if (model.provider.includes('anthropic') && budgetClaude.test(model.modelId)) {
    const wanted = thinking?.budgetTokens ?? Math.floor(maxTokens * share[reasoningEffort ?? 'medium']);
    const most = maxTokens - Math.min(answerTokens, Math.ceil(maxTokens * answerShare));
    const budgetTokens = Math.min(Math.max(wanted, minBudget), most);
    if (budgetTokens < minBudget) return { maxOutputTokens: maxTokens };
    return {
      maxOutputTokens: maxTokens - budgetTokens,
      providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens } } },
    };
  }
  return {
    maxOutputTokens: maxTokens,
    reasoning: reasoningEffort ?? chooseEffort(thinking?.budgetTokens ?? 0),
  };
}

function chooseEffort(budgetTokens: number): 'low' | 'medium' | 'high' {
  if (budgetTokens <= 4096) return 'low';
  return budgetTokens <= 16_384 ? 'medium' : 'high';
}
