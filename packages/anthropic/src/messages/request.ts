import {
  type CatalogueEntry,
  defaultOutputCap,
  findIgnoredByProvider,
  withinModel,
} from '@questline/core/internal';
import type { GenerateRequest, ModelMessage, PromptCacheHints, ReasoningEffort } from '@questline/core/ports';
import { issue, unsupported } from '../errors.ts';
import type { CountTokensBody, MessagesBody } from './contract.ts';

/** Fields that describe a request, its billing or its history, and have no effect here. */
const IGNORED = ['context_management', 'diagnostics', 'metadata', 'service_tier', 'speed'] as const;

const NAMES = {
  topP: 'top_p',
  topK: 'top_k',
  stop: 'stop_sequences',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'tool_choice.disable_parallel_tool_use',
  reasoningEffort: 'output_config.effort',
  responseFormat: 'output_config.format',
} as const;

const EFFORTS: Readonly<Record<string, ReasoningEffort>> = {
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'xhigh',
};

/** Thinking tokens of a model with a budget, when the request lets the model decide. */
const ADAPTIVE_BUDGET = 16_384;
/** The vendor's effort of adaptive thinking. */
const ADAPTIVE_EFFORT = 'high';

/** @throws ApiError 400 that names a field that would change the answer and is not supported. */
export function refuseUnsupported(body: MessagesBody | CountTokensBody): void {
  const fields: Readonly<Record<string, unknown>> = body;
  if (isFilled(fields.container)) throw unsupported('container', 'containers and their skills');
  if (isFilled(fields.mcp_servers)) throw unsupported('mcp_servers', 'offer their tools in tools');
  if (isFilled(fields.inference_geo) && fields.inference_geo !== 'global') {
    throw unsupported('inference_geo', 'a choice of the region');
  }
  for (const [index, { type, name, input_schema: schema }] of (body.tools ?? []).entries()) {
    const path = `tools.${index}`;
    if (type != null && type !== 'custom') {
      throw unsupported(`${path}.type`, `${type.slice(0, 100)}: tools that the vendor runs or defines`);
    }
    if (name === undefined) throw issue(`${path}.name`, 'is required');
    if (schema === undefined) throw issue(`${path}.input_schema`, 'is required');
  }
}

/** The fields of a request that have no effect, for a response header. */
export function findIgnored(
  body: MessagesBody,
  request: GenerateRequest,
  entry: CatalogueEntry,
): readonly string[] {
  const fields: Readonly<Record<string, unknown>> = body;
  const isDropped =
    body.thinking != null && body.thinking.type !== 'disabled' && request.thinking === undefined;
  return [
    ...IGNORED.filter((name) => isFilled(fields[name])),
    ...(isDropped ? ['thinking'] : []),
    ...findIgnoredByProvider(entry, request, NAMES),
  ];
}

export function toGenerateRequest(
  body: MessagesBody,
  messages: readonly ModelMessage[],
  { info, providerModel }: CatalogueEntry,
  promptCache: PromptCacheHints,
): GenerateRequest {
  const { temperature, max_tokens: cap, top_p: topP, top_k: topK, stop_sequences: stop, tool_choice } = body;
  const reasoning = canReason(info) ? toReasoning(body) : {};
  const format = body.output_config?.format ?? body.output_format;
  const choice = toToolChoice(body);
  const isOneByOne = tool_choice?.type !== 'none' && tool_choice?.disable_parallel_tool_use === true;
  return {
    model: providerModel,
    messages,
    maxTokens: cap == null ? defaultOutputCap(info, reasoning.reasoningEffort) : withinModel(info, cap),
    promptCache,
    ...toTools(body),
    ...(choice !== undefined && { toolChoice: choice }),
    ...(isOneByOne && { parallelToolCalls: false }),
    ...(temperature != null && { temperature }),
    ...(topP != null && { topP }),
    ...(topK != null && topK > 0 && { topK }),
    ...(stop != null && stop.length > 0 && { stop }),
    ...reasoning,
    ...(format != null && { responseFormat: { type: 'schema', name: 'answer', schema: format.schema } }),
  };
}

export function toTools({ tools }: Pick<MessagesBody, 'tools'>): Pick<GenerateRequest, 'tools'> {
  if (tools == null || tools.length === 0) return {};
  return {
    tools: tools.map(({ name = '', description, input_schema: parameters = {} }) => ({
      name,
      description: description ?? '',
      parameters,
    })),
  };
}

/** Programs send reasoning options with every request, also to models that reject them. */
function canReason({ supportsThinking, reasoningEfforts }: CatalogueEntry['info']): boolean {
  return supportsThinking === true || (reasoningEfforts ?? []).length > 0;
}

function toReasoning(body: MessagesBody): Pick<GenerateRequest, 'thinking' | 'reasoningEffort'> {
  const { thinking } = body;
  const effort = findEffort(body);
  if (thinking?.type === 'disabled') return { reasoningEffort: 'none' };
  if (thinking == null) return effort === undefined ? {} : { reasoningEffort: effort };
  if (thinking.budget_tokens != null) {
    return { thinking: { budgetTokens: thinking.budget_tokens }, ...(effort && { reasoningEffort: effort }) };
  }
  return { thinking: { budgetTokens: ADAPTIVE_BUDGET }, reasoningEffort: effort ?? ADAPTIVE_EFFORT };
}

/** The last instruction between the turns wins. */
function findEffort({ messages, output_config: output }: MessagesBody): ReasoningEffort | undefined {
  const set = messages.findLast(
    (message) => message.role === 'system' && message.output_config?.effort != null,
  );
  const name = (set?.role === 'system' ? set.output_config?.effort : undefined) ?? output?.effort;
  return name == null || !Object.hasOwn(EFFORTS, name) ? undefined : EFFORTS[name];
}

function toToolChoice({ tool_choice: choice, tools }: MessagesBody): GenerateRequest['toolChoice'] {
  const offered = tools ?? [];
  if (choice == null) return undefined;
  if (choice.type === 'tool') {
    if (!offered.some(({ name }) => name === choice.name)) {
      throw issue('tool_choice.name', 'the request offers no tool of this name');
    }
    return { name: choice.name };
  }
  if (choice.type === 'any') {
    if (offered.length === 0) throw issue('tool_choice', 'the request offers no tools');
    return 'required';
  }
  return offered.length > 0 ? choice.type : undefined;
}

/** Neither absent, null nor an empty object or list. */
function isFilled(value: unknown): boolean {
  return value != null && (typeof value !== 'object' || Object.keys(value).length > 0);
}
