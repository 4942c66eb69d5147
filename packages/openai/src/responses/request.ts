import { type CatalogueEntry, defaultOutputCap, withinModel } from '@questline/core/internal';
import type { GenerateRequest, ModelMessage, PromptCacheHints, ReasoningEffort } from '@questline/core/ports';
import type { ResponseBody } from './contract.ts';
import { type OfferedTools, toToolFields } from './tools.ts';

/** Thinking tokens of a model with a budget, when the request asks for a summary of the reasoning. */
const BUDGETS: Readonly<Record<Exclude<ReasoningEffort, 'none'>, number>> = {
  minimal: 2048,
  low: 4096,
  medium: 16_384,
  high: 32_768,
  xhigh: 32_768,
};

export function toGenerateRequest(
  body: ResponseBody,
  messages: readonly ModelMessage[],
  tools: OfferedTools,
  { info, providerModel }: CatalogueEntry,
  promptCache: PromptCacheHints,
): GenerateRequest {
  const { temperature, top_p: topP, max_output_tokens: cap, parallel_tool_calls: isParallel } = body;
  const reasoning = canReason(info) ? toReasoning(body) : {};
  const format = toResponseFormat(body);
  return {
    model: providerModel,
    messages,
    maxTokens: cap == null ? defaultOutputCap(info, reasoning.reasoningEffort) : withinModel(info, cap),
    promptCache,
    ...toToolFields(body, tools),
    ...(isParallel != null && { parallelToolCalls: isParallel }),
    ...(temperature != null && { temperature }),
    ...(topP != null && { topP }),
    ...reasoning,
    ...(format !== undefined && { responseFormat: format }),
  };
}

/** Programs send reasoning options with every request, also to models that reject them. */
function canReason({ supportsThinking, reasoningEfforts }: CatalogueEntry['info']): boolean {
  return supportsThinking === true || (reasoningEfforts ?? []).length > 0;
}

/** Providers return a summary of the reasoning where the request sets a budget. */
function toReasoning({ reasoning }: ResponseBody): Pick<GenerateRequest, 'thinking' | 'reasoningEffort'> {
  const effort = reasoning?.effort === 'max' ? 'xhigh' : (reasoning?.effort ?? undefined);
  const set = effort === undefined ? {} : { reasoningEffort: effort };
  if (reasoning?.summary == null || reasoning.summary === 'none' || effort === 'none') return set;
  return { ...set, thinking: { budgetTokens: BUDGETS[effort ?? 'medium'] } };
}

function toResponseFormat({ text }: ResponseBody): GenerateRequest['responseFormat'] {
  const format = text?.format;
  if (format == null || format.type === 'text') return undefined;
  if (format.type === 'json_object') return { type: 'json' };
  const { name, schema, strict } = format;
  return { type: 'schema', name, schema, ...(strict != null && { strict }) };
}
