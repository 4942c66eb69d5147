import {
  type CatalogueEntry,
  defaultOutputCap,
  findIgnoredByProvider,
  withinModel,
} from '@questline/core/internal';
import type { GenerateRequest, ModelMessage, PromptCacheHints } from '@questline/core/ports';
import { issue, unsupported } from '../errors.ts';
import type { ChatBody } from './contract.ts';

/** Fields that refine an answer or its billing, and have no effect here. */
const IGNORED = [
  'frequency_penalty',
  'metadata',
  'prediction',
  'presence_penalty',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'service_tier',
  'store',
  'user',
  'verbosity',
] as const;

const NAMES = {
  topP: 'top_p',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'parallel_tool_calls',
  reasoningEffort: 'reasoning_effort',
  responseFormat: 'response_format',
} as const;

/** @throws ApiError 400 that names a field that would change the answer and is not supported. */
export function refuseUnsupported(body: ChatBody): void {
  const fields: Readonly<Record<string, unknown>> = body;
  if ((body.n ?? 1) > 1) throw unsupported('n', 'send one request per answer');
  if (fields.logprobs === true) throw unsupported('logprobs', 'token probabilities');
  if (isPositive(fields.top_logprobs)) throw unsupported('top_logprobs', 'token probabilities');
  if (isFilled(fields.logit_bias)) throw unsupported('logit_bias', 'token probabilities');
  if (Array.isArray(fields.modalities) && fields.modalities.includes('audio')) {
    throw unsupported('modalities', 'audio output; use audio/speech');
  }
  if (isFilled(fields.audio)) throw unsupported('audio', 'audio output; use audio/speech');
  if (isFilled(fields.web_search_options)) throw unsupported('web_search_options', 'offer a tool instead');
  if (isFilled(fields.moderation)) throw unsupported('moderation', 'moderated completions');
  if (isFilled(fields.functions)) throw unsupported('functions', 'use tools');
  if (fields.function_call != null) throw unsupported('function_call', 'use tool_choice');
}

/** The fields of a request that have no effect, for a response header. */
export function findIgnored(
  body: ChatBody,
  request: GenerateRequest,
  entry: CatalogueEntry,
): readonly string[] {
  const fields: Readonly<Record<string, unknown>> = body;
  const ignored = findIgnoredByProvider(entry, request, NAMES);
  return [
    ...IGNORED.filter((name) => fields[name] != null && fields[name] !== 0 && fields[name] !== false),
    ...ignored.filter((name) => fields[name] != null),
  ];
}

/** `max_completion_tokens` replaces the older `max_tokens`. */
export function getCap({ max_completion_tokens, max_tokens }: ChatBody): number | undefined {
  return max_completion_tokens ?? max_tokens ?? undefined;
}

export function toGenerateRequest(
  body: ChatBody,
  messages: readonly ModelMessage[],
  { info, providerModel }: CatalogueEntry,
  promptCache: PromptCacheHints,
): GenerateRequest {
  const { temperature, top_p: topP, seed, parallel_tool_calls: isParallel } = body;
  const cap = getCap(body);
  const effort = body.reasoning_effort === 'max' ? 'xhigh' : (body.reasoning_effort ?? undefined);
  const format = toResponseFormat(body.response_format);
  const choice = toToolChoice(body);
  return {
    model: providerModel,
    messages,
    maxTokens: cap === undefined ? defaultOutputCap(info, effort) : withinModel(info, cap),
    promptCache,
    ...(body.tools != null && body.tools.length > 0 && { tools: body.tools.map(toToolSchema) }),
    ...(choice !== undefined && { toolChoice: choice }),
    ...(isParallel != null && { parallelToolCalls: isParallel }),
    ...(temperature != null && { temperature }),
    ...(topP != null && { topP }),
    ...(body.stop != null && { stop: typeof body.stop === 'string' ? [body.stop] : body.stop }),
    ...(seed != null && { seed }),
    ...(effort !== undefined && { reasoningEffort: effort }),
    ...(format !== undefined && { responseFormat: format }),
  };
}

function toToolSchema({
  function: { name, description, parameters },
}: NonNullable<ChatBody['tools']>[number]): NonNullable<GenerateRequest['tools']>[number] {
  return {
    name,
    description: description ?? '',
    parameters: parameters ?? { type: 'object', properties: {} },
  };
}

function toToolChoice({ tool_choice: choice, tools }: ChatBody): GenerateRequest['toolChoice'] {
  const offered = tools ?? [];
  if (choice == null) return undefined;
  if (typeof choice === 'object') {
    const { name } = choice.function;
    if (!offered.some((tool) => tool.function.name === name)) {
      throw issue('tool_choice', 'the request offers no tool of this name');
    }
    return { name };
  }
  if (offered.length > 0) return choice;
  if (choice === 'required') throw issue('tool_choice', 'the request offers no tools');
  return undefined;
}

function toResponseFormat(format: ChatBody['response_format']): GenerateRequest['responseFormat'] {
  if (format == null || format.type === 'text') return undefined;
  if (format.type === 'json_object') return { type: 'json' };
  const { name, schema, strict } = format.json_schema;
  return {
    type: 'schema',
    name,
    schema: schema ?? { type: 'object' },
    ...(strict != null && { strict }),
  };
}

function isPositive(value: unknown): boolean {
  return typeof value === 'number' && value > 0;
}

/** Neither absent, null nor an empty object or list. */
function isFilled(value: unknown): boolean {
  return value != null && (typeof value !== 'object' || Object.keys(value).length > 0);
}
