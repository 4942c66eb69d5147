import type { ReasoningEffort } from '@questline/core/ports';

/*
 * What OpenAI's models take, by name: the catalogue knows the listed ones, callers may name others. As of 2026-11-22, by
 * https://developers.openai.com/api/docs/guides/reasoning and refusals seen (bolna#1019, livekit/agents#7169,
 * litellm#52347).
 */

/** Whether the model always reasons: it takes an effort, and no temperature. */
export function isReasoningModel(model: string): boolean {
  return /^(o\d|gpt-(5|6)(?!.*chat))/.test(model);
}

/** Levels of effort, lowest first. Undefined: unknown. */
export function getEffortLevels(model: string): readonly ReasoningEffort[] | undefined {
  if (/^gpt-6(\.\d+)?-astra|^gpt-6\.[2-9]/.test(model)) return ['low', 'medium', 'high', 'xhigh'];
  if (/^gpt-(5\.[2-9]|6)/.test(model)) return ['none', 'low', 'medium', 'high', 'xhigh'];
  if (/^gpt-5\.1/.test(model)) return ['none', 'low', 'medium', 'high'];
  if (/^gpt-5/.test(model)) return ['minimal', 'low', 'medium', 'high'];
  return /^o\d/.test(model) ? ['low', 'medium', 'high'] : undefined;
}
